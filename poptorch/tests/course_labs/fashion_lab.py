# The course's first lab in the way that its users write it. torchvision finds
# the data in the folder of the first argument; the others make it short.
import sys

import poptorch
import torch
import torch.nn as nn
import torchvision
from sklearn.metrics import accuracy_score, confusion_matrix
from tqdm import tqdm

folder = sys.argv[1]
epochs = int(sys.argv[2])
images = int(sys.argv[3]) if len(sys.argv) > 3 else None

torch.manual_seed(42)
transform = torchvision.transforms.Compose([
    torchvision.transforms.ToTensor(),
    torchvision.transforms.Normalize((0.5,), (0.5,)),
])
train_dataset, test_dataset = (
    torchvision.datasets.FashionMNIST(
        folder, transform=transform, download=True, train=train)
    for train in (True, False)
)
if images is not None:
    train_dataset = torch.utils.data.Subset(train_dataset, range(images))


class ClassificationModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 5, 3)
        self.pool = nn.MaxPool2d(2, 2)
        self.conv2 = nn.Conv2d(5, 12, 5)
        self.norm = nn.GroupNorm(3, 12)
        self.fc1 = nn.Linear(972, 100)
        self.relu = nn.ReLU()
        self.fc2 = nn.Linear(100, 10)
        self.log_softmax = nn.LogSoftmax(dim=1)
        self.loss = nn.NLLLoss()

    def forward(self, x, labels=None):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.norm(self.relu(self.conv2(x)))
        x = torch.flatten(x, start_dim=1)
        x = self.log_softmax(self.fc2(self.relu(self.fc1(x))))
        if self.training:
            return x, self.loss(x, labels)
        return x


model = ClassificationModel()
model.train()
opts = poptorch.Options()
train_dataloader = poptorch.DataLoader(
    opts, train_dataset, batch_size=16, shuffle=True, num_workers=20)
optimizer = poptorch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
poptorch_model = poptorch.trainingModel(
    model, options=opts, optimizer=optimizer)
for epoch in tqdm(range(epochs), desc="epochs"):
    total_loss = 0.0
    for data, labels in tqdm(train_dataloader, desc="batches", leave=False):
        output, loss = poptorch_model(data, labels)
        total_loss += loss
poptorch_model.detachFromDevice()
torch.save(model.state_dict(), f"{folder}/classifier.pth")

model = model.eval()
poptorch_model_inf = poptorch.inferenceModel(model, options=opts)
test_dataloader = poptorch.DataLoader(
    opts, test_dataset, batch_size=32, num_workers=10)
predictions, labels = [], []
for data, label in test_dataloader:
    predictions += poptorch_model_inf(data).data.max(dim=1).indices
    labels += label
poptorch_model_inf.detachFromDevice()
assert confusion_matrix(labels, predictions).shape == (10, 10)
print(f"Eval accuracy: {100 * accuracy_score(labels, predictions):.2f}%")

model = ClassificationModel()
model.load_state_dict(torch.load(f"{folder}/classifier.pth"))
model.eval()
image = test_dataset[0][0].unsqueeze(0)
single = poptorch.inferenceModel(model, options=poptorch.Options())
assert int(single(image).argmax()) == int(model(image).argmax())
