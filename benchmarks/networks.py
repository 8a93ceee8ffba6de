"""The networks that are timed, each with its data and its optimiser.

Everything is made from fixed seeds, so that every process that builds a
network gets the same weights and the same batches.
"""

from dataclasses import dataclass
from typing import Callable

import torch
from torch import nn


def fashion_cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 5, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(5, 12, 5), nn.ReLU(), nn.GroupNorm(3, 12),
        nn.Flatten(), nn.Linear(972, 100), nn.ReLU(), nn.Linear(100, 10),
        nn.LogSoftmax(dim=1))


def mlp() -> nn.Module:
    return nn.Sequential(
        nn.Flatten(), nn.Linear(784, 256), nn.ReLU(),
        nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10),
        nn.LogSoftmax(dim=1))


class WithLoss(nn.Module):
    """Scores and loss in one forward(), as PopTorch wants it."""

    def __init__(self, layers: nn.Module):
        super().__init__()
        self.layers = layers
        self.loss = nn.NLLLoss()

    def forward(self, images, labels):
        scores = self.layers(images)
        return scores, self.loss(scores, labels)


@dataclass(frozen=True)
class Network:
    layers: Callable[[], nn.Module]
    batch: int
    optimizer: str  # a name in torch.optim and in poptorch.optim
    hyperparameters: dict
    is_image: bool = True  # has convolutions, so that channels_last matters

    def model(self) -> WithLoss:
        torch.manual_seed(7)
        return WithLoss(self.layers())

    def batches(self, count: int):
        """`count` batches: noise around one picture per class."""
        generator = torch.Generator().manual_seed(11)
        pictures = torch.randn(10, 1, 28, 28, generator=generator)
        labels = torch.randint(10, (count * self.batch,), generator=generator)
        noise = torch.randn(len(labels), 1, 28, 28, generator=generator)
        images = 0.5 * pictures[labels] + noise
        return images.split(self.batch), labels.split(self.batch)


# RMSprop has the defaults of Keras, SGD of the CNN those of the course.
NETWORKS = {
    "fashion-cnn": Network(fashion_cnn, 16, "SGD",
                           dict(lr=0.001, momentum=0.9)),
    "mlp-rmsprop": Network(mlp, 32, "RMSprop",
                           dict(lr=0.001, alpha=0.9, eps=1e-7), is_image=False),
    "mlp-sgd": Network(mlp, 32, "SGD", dict(lr=0.01), is_image=False),
}
