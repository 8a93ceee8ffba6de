# The program of the PopTorch course, start to end, on random images.
import numpy as np
import pytest
import torch
from torch import nn

import poptorch


class ClassificationModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 5, 3)
        self.pool = nn.MaxPool2d(2, 2)
        self.conv2 = nn.Conv2d(5, 12, 5)
        self.norm = nn.GroupNorm(3, 12)
        self.fc1 = nn.Linear(12, 100)
        self.relu = nn.ReLU()
        self.fc2 = nn.Linear(100, 10)
        self.log_softmax = nn.LogSoftmax(dim=1)
        self.loss = nn.NLLLoss()

    def forward(self, x, labels=None):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.norm(self.relu(self.pool(self.conv2(x))))
        x = torch.flatten(x, start_dim=1)
        x = self.relu(self.fc1(x))
        x = self.log_softmax(self.fc2(x))
        # The model computes its loss, but only when it is trained.
        if self.training:
            return x, self.loss(x, labels)
        return x


class Images(torch.utils.data.Dataset):
    """Bright squares whose place is the label."""

    def __len__(self):
        return 64

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        label = index % 10
        image = torch.randn(1, 14, 14, generator=generator) * 0.1
        row, column = divmod(label, 5)
        image[:, row * 7 : row * 7 + 5, column * 2 : column * 2 + 4] += 1
        return image, label


def test_courseProgram(tmp_path):
    torch.manual_seed(0)
    opts = poptorch.Options()
    opts.deviceIterations(4)
    opts.showCompilationProgressBar(False)
    train_dataloader = poptorch.DataLoader(
        opts, Images(), batch_size=4, shuffle=True, num_workers=2
    )
    model = ClassificationModel()
    model.train()
    optimizer = poptorch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    poptorch_model = poptorch.trainingModel(
        model, options=opts, optimizer=optimizer
    )
    losses = []
    for _ in range(6):
        total_loss = 0.0
        for data, labels in train_dataloader:
            output, loss = poptorch_model(data, labels)
            total_loss += loss
        losses.append(total_loss.item())
    assert losses[-1] < losses[0] / 2
    poptorch_model.detachFromDevice()
    path = tmp_path / "classifier.pth"
    torch.save(model.state_dict(), path)

    model = model.eval()
    poptorch_model_inf = poptorch.inferenceModel(model, options=opts)
    test_dataloader = poptorch.DataLoader(opts, Images(), batch_size=4)
    predictions, labels = [], []
    for data, label in test_dataloader:
        predictions += poptorch_model_inf(data).data.max(dim=1).indices
        labels += label
    poptorch_model_inf.detachFromDevice()
    accuracy = np.mean([p == q for p, q in zip(predictions, labels)])
    assert accuracy > 0.8

    fresh = ClassificationModel()
    fresh.load_state_dict(torch.load(path))
    fresh.eval()
    again = poptorch.inferenceModel(fresh, options=opts)
    data, _ = next(iter(test_dataloader))
    torch.testing.assert_close(
        again(data), fresh(data).detach(), rtol=1e-4, atol=1e-5
    )
    with pytest.raises(poptorch.Error, match="Shape mismatch"):
        again(data[:8])
