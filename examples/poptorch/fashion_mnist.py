"""A first PopTorch program: a small CNN learns to tell clothes apart.

An ordinary PyTorch module becomes an IPU program by wrapping it; the loss is
computed inside forward(), so that it runs on the IPU too. Where Fashion-MNIST is
not found, handwritten digits take its place.
"""

import argparse

import poptorch
import torch
from torch import nn
from tqdm import tqdm

import datasets


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 5, 3), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(5, 12, 5), nn.ReLU(), nn.GroupNorm(3, 12),
        )
        self.classes = nn.Sequential(
            nn.Flatten(), nn.Linear(972, 100), nn.ReLU(), nn.Linear(100, 10),
            nn.LogSoftmax(dim=1),
        )
        self.loss = nn.NLLLoss()

    def forward(self, images, labels=None):
        scores = self.classes(self.features(images))
        if labels is None:
            return scores
        return scores, self.loss(scores, labels)


def train(network, dataset, epochs: int):
    options = poptorch.Options()
    optimizer = poptorch.optim.SGD(network.parameters(), lr=0.001,
                                   momentum=0.9)
    model = poptorch.trainingModel(network, options, optimizer)
    loader = poptorch.DataLoader(options, dataset, batch_size=16, shuffle=True)
    for epoch in range(1, epochs + 1):
        total = 0.0
        for images, labels in tqdm(loader, desc=f"Epoch {epoch}/{epochs}"):
            _, loss = model(images, labels)
            total += loss.item()
        print(f"Mean loss: {total / len(loader):.4f}")
    # Gives the IPU back, and the weights to `network`.
    model.detachFromDevice()


def evaluate(network, dataset) -> float:
    options = poptorch.Options()
    model = poptorch.inferenceModel(network.eval(), options)
    loader = poptorch.DataLoader(options, dataset, batch_size=32)
    right = count = 0
    for images, labels in loader:
        right += (model(images).argmax(dim=1) == labels).sum().item()
        count += len(labels)
    return 100 * right / count


def main():
    torch.manual_seed(42)
    data = datasets.load("Fashion-MNIST", "MNIST", mean=0.5, deviation=0.5)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int,
                        default=20 if data.is_small else 5)
    parser.add_argument("--images", type=int,
                        help="train on the first N images only")
    arguments = parser.parse_args()
    print(f"Data: {data.name}")

    network = Classifier()
    train(network, data.train.first(arguments.images).dataset(),
          arguments.epochs)
    accuracy = evaluate(network, data.test.dataset())
    print(f"Accuracy on the test set: {accuracy:.2f} %")


if __name__ == "__main__":
    main()
