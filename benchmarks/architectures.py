"""The layers of the networks that are timed, as PyTorch users write them."""

import torch
from torch import nn


def fashion_cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 5, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(5, 12, 5), nn.ReLU(), nn.GroupNorm(3, 12),
        nn.Flatten(), nn.Linear(972, 100), nn.ReLU(), nn.Linear(100, 10),
        nn.LogSoftmax(dim=1))


def pipelined_cnn() -> nn.Module:
    """A block for each layer with weights; PopTorch makes stages of them."""
    return nn.Sequential(
        nn.Sequential(nn.Conv2d(1, 10, 5), nn.MaxPool2d(2), nn.ReLU()),
        nn.Sequential(nn.Conv2d(10, 20, 5), nn.MaxPool2d(2), nn.ReLU(),
                      nn.Flatten()),
        nn.Sequential(nn.Linear(320, 256), nn.ReLU()),
        nn.Sequential(nn.Linear(256, 10), nn.LogSoftmax(dim=1)))


def mlp() -> nn.Module:
    return nn.Sequential(
        nn.Flatten(), nn.Linear(784, 256), nn.ReLU(),
        nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10),
        nn.LogSoftmax(dim=1))


def keras_cifar10() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(),
        nn.Conv2d(32, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.25),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
        nn.Conv2d(64, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.25),
        nn.Flatten(), nn.Linear(1152, 512), nn.ReLU(), nn.Dropout(0.5),
        nn.Linear(512, 10), nn.LogSoftmax(dim=1))


def keras_mnist() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.5), nn.Linear(1600, 10),
        nn.LogSoftmax(dim=1))


def residual(name: str) -> nn.Module:
    """One of torchvision's, with the scores of 1000 classes."""
    import torchvision

    return nn.Sequential(getattr(torchvision.models, name)(),
                         nn.LogSoftmax(dim=1))


class LstmClassifier(nn.Module):
    def __init__(self, features: int = 64, hidden: int = 128):
        super().__init__()
        self.lower = nn.LSTM(features, hidden, batch_first=True)
        self.upper = nn.LSTM(hidden, hidden, batch_first=True)
        self.classes = nn.Sequential(nn.Linear(hidden, 10),
                                     nn.LogSoftmax(dim=1))

    def forward(self, x):
        x, _ = self.upper(self.lower(x)[0])
        return self.classes(x[:, -1])


class TransformerClassifier(nn.Module):
    def __init__(self, width: int = 256, heads: int = 8, layers: int = 4):
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width,
                                           batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers,
                                             enable_nested_tensor=False)
        self.classes = nn.Sequential(nn.Linear(width, 10),
                                     nn.LogSoftmax(dim=1))

    def forward(self, x):
        return self.classes(torch.mean(self.encoder(x), 1))
