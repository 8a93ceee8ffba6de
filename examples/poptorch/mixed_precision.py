"""Training in half precision: half the memory, and how not to lose the small.

A float16 has eleven bits and ends at 65504 above and about 6e-8 below. So that
gradients do not vanish, the loss is multiplied before the backward pass (loss
scaling) and the update divides by it again. Stochastic rounding keeps updates
that are too small for one step from being lost in all steps. Sums inside
products and convolutions, the partials, stay in float32 unless they are asked
to be halves, and the optimiser's state has types of its own.
"""

import argparse

import poptorch
import torch
from torch import nn

import datasets


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 5, 3), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(5, 12, 5), nn.ReLU(), nn.GroupNorm(3, 12),
            nn.Flatten(), nn.Linear(972, 100), nn.ReLU(), nn.Linear(100, 10),
            nn.LogSoftmax(dim=1))
        self.loss = nn.NLLLoss()

    def forward(self, images, labels=None):
        scores = self.layers(images)
        if labels is None:
            return scores
        # The loss is a sum over the batch: in float32, it rounds less.
        return scores, self.loss(scores.float(), labels)


def options_of(dtype, arguments) -> poptorch.Options:
    options = poptorch.Options()
    if dtype == torch.float16:
        options.Precision.enableStochasticRounding(
            not arguments.no_stochastic_rounding)
        if arguments.half_partials:
            options.Precision.setPartialsType(torch.half)
    return options


def optimizer_of(network, dtype, arguments):
    if dtype == torch.float32:
        return poptorch.optim.AdamW(network.parameters(), lr=0.001)
    return poptorch.optim.AdamW(
        network.parameters(), lr=0.001, eps=1e-5,  # 1e-8 would be 0
        loss_scaling=arguments.loss_scaling,
        accum_type=torch.float16,
        first_order_momentum_accum_type=torch.float16,
        second_order_momentum_accum_type=torch.float32)


def in_type(split, dtype):
    return torch.utils.data.TensorDataset(split.images.to(dtype), split.labels)


def train(data, dtype, arguments):
    torch.manual_seed(0)
    network = Network().to(dtype)
    options = options_of(dtype, arguments)
    model = poptorch.trainingModel(network, options,
                                   optimizer_of(network, dtype, arguments))
    loader = poptorch.DataLoader(
        options, in_type(data.train.first(arguments.images), dtype),
        batch_size=16, shuffle=True)
    for _ in range(arguments.epochs):
        for images, labels in loader:
            model(images, labels)
    model.detachFromDevice()
    return network


def accuracy_of(network, data, dtype, arguments) -> float:
    options = options_of(dtype, arguments)
    model = poptorch.inferenceModel(network.eval(), options)
    right = count = 0
    for images, labels in poptorch.DataLoader(
            options, in_type(data.test, dtype), batch_size=20):
        right += (model(images).argmax(dim=1) == labels).sum().item()
        count += len(labels)
    model.detachFromDevice()
    return 100 * right / count


def main():
    data = datasets.load("Fashion-MNIST", "MNIST", mean=0.5, deviation=0.5)
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--epochs", type=int, default=10 if data.is_small else 2)
    add("--images", type=int, help="train on the first N images only")
    add("--loss-scaling", type=float, default=128.0)
    add("--no-stochastic-rounding", action="store_true")
    add("--half-partials", action="store_true",
        help="also add up products in halves")
    arguments = parser.parse_args()
    print(f"Data: {data.name}")
    for dtype in (torch.float32, torch.float16):
        network = train(data, dtype, arguments)
        size = sum(p.numel() * p.element_size() for p in network.parameters())
        accuracy = accuracy_of(network, data, dtype, arguments)
        print(f"{str(dtype).removeprefix('torch.')}: {size:,} bytes of "
              f"weights, {accuracy:.2f} % right on the test set")


if __name__ == "__main__":
    main()
