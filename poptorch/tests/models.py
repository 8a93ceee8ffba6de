# Networks that several tests run, and PyTorch's way of training them.
import torch
import torch.nn.functional as F
from torch import nn

import poptorch


class Classifier(nn.Module):
    """The network of the PopTorch course: convolutions, pooling, a group norm,
    two linear layers; two blocks."""

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
        with poptorch.Block("first", ipu_id=0):
            x = self.pool(self.relu(self.conv1(x)))
            x = self.norm(self.relu(self.pool(self.conv2(x))))
        with poptorch.Block("second", ipu_id=1):
            x = self.relu(self.fc1(torch.flatten(x, start_dim=1)))
            x = self.log_softmax(self.fc2(x))
            if labels is None:
                return x
            return x, self.loss(x, labels)


class Small(nn.Module):
    """Two linear layers, on one IPU."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 8)
        self.b = nn.Linear(8, 3)

    def forward(self, x, labels=None):
        x = self.b(torch.tanh(self.a(x)))
        if labels is None:
            return x
        return x, F.cross_entropy(x, labels)


def classifierData(rows, seed=1):
    generator = torch.Generator().manual_seed(seed)
    images = torch.randn(rows, 1, 14, 14, generator=generator)
    return images, torch.randint(0, 10, (rows,), generator=generator)


def smallData(rows, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return (
        torch.randn(rows, 4, generator=generator),
        torch.randint(0, 3, (rows,), generator=generator),
    )


def trainWithTorch(model, optimizer, x, labels, micro_batch, accumulation):
    """Every micro-batch's loss; gradients are means over `accumulation`."""
    losses = []
    for start in range(0, x.shape[0], micro_batch * accumulation):
        optimizer.zero_grad()
        for i in range(accumulation):
            rows = slice(
                start + i * micro_batch, start + (i + 1) * micro_batch
            )
            _, loss = model(x[rows], labels[rows])
            (loss / accumulation).backward()
            losses.append(loss.item())
        optimizer.step()
    return torch.tensor(losses)
