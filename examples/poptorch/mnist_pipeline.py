"""Trains a small convolutional network on MNIST as a pipeline over four IPUs.

The network is cut into four blocks, and each is a stage with an IPU of its own.
A step runs 10 x 10 micro-batches of 40 images: the gradients of 10 are
accumulated before each of the 10 weight updates, so that all stages are busy
some of the time. With --strategy sharded one IPU works while the others wait:
compare the costs.
"""

import argparse
import time
from pathlib import Path

import poptorch
import torch
from torch import nn
from tqdm import tqdm

import datasets


class ConvLayer(nn.Module):
    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel_size=5)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        return torch.relu(self.pool(self.conv(x)))


class Network(nn.Module):
    """Returns the scores, and with labels also the loss."""

    def __init__(self):
        super().__init__()
        self.layer1 = ConvLayer(1, 10)
        self.layer2 = ConvLayer(10, 20)
        self.layer3 = nn.Linear(320, 256)
        self.layer4 = nn.Linear(256, 10)
        self.loss = nn.CrossEntropyLoss()

    def forward(self, x, labels=None):
        with poptorch.Block("B1"):
            x = self.layer1(x)
        with poptorch.Block("B2"):
            x = self.layer2(x)
        with poptorch.Block("B3"):
            x = torch.relu(self.layer3(torch.flatten(x, 1)))
        with poptorch.Block("B4"):
            x = self.layer4(x)
            if labels is None:
                return x
            return x, self.loss(x, labels)


STRATEGIES = {
    "pipelined": poptorch.PipelinedExecution,
    "sharded": poptorch.ShardedExecution,
}


def strategy(name: str):
    blocks = ("B1", "B2", "B3", "B4")
    stages = [poptorch.Stage(block).ipu(i) for i, block in enumerate(blocks)]
    return STRATEGIES[name](*stages)


def training_options(arguments) -> poptorch.Options:
    options = poptorch.Options()
    options.deviceIterations(arguments.device_iterations)
    options.Training.gradientAccumulation(arguments.accumulation)
    options.outputMode(poptorch.OutputMode.All)
    options.setExecutionStrategy(strategy(arguments.strategy))
    if arguments.offload_optimiser:
        off_chip = poptorch.TensorLocationSettings().useOnChipStorage(False)
        options.TensorLocations.setOptimizerLocation(off_chip)
    return options


def inference_options(training: poptorch.Options, arguments):
    """The same, but for what only training needs."""
    options = training.clone()
    options.Training.gradientAccumulation(1)
    options.deviceIterations(arguments.test_iterations)
    return options


def percent_right(scores, labels) -> float:
    return (scores.argmax(dim=1) == labels).float().mean().item() * 100


def train(model, loader, epochs: int) -> float:
    """Returns images per second, the compilation not counted."""
    images, labels = next(iter(loader))
    model.compile(images, labels)
    start = time.perf_counter()
    for epoch in range(1, epochs + 1):
        bar = tqdm(loader, desc=f"Epoch {epoch}/{epochs}", unit="step")
        for images, labels in bar:
            scores, loss = model(images, labels)
            bar.set_postfix_str(f"loss {loss.mean().item():.4f}, accuracy "
                                f"{percent_right(scores, labels):.2f} %")
    count = epochs * len(loader) * loader.combinedBatchSize
    return count / (time.perf_counter() - start)


def test(model, loader) -> float:
    right = [
        percent_right(model(images), labels)
        for images, labels in tqdm(loader, desc="Test", unit="step")
    ]
    return sum(right) / len(right)


def headline(cost: str) -> str:
    """The part of the profile summary that says how long a step takes."""
    lines = cost.splitlines()
    begin = next(i for i, l in enumerate(lines) if "Total cycles" in l)
    end = next(i for i, l in enumerate(lines) if "Cycles by vertex type" in l)
    memory = [l.strip() for l in lines if "Maximum (Including Gaps)" in l]
    return "\n".join(lines[begin:end] + [f"  Fullest tile, bytes: {m}"
                                         for m in memory])


def parse_arguments(is_small: bool, arguments=None):
    """The defaults make sense of few images too: smaller, and more, steps."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--epochs", type=int, default=20 if is_small else 3)
    add("--batch-size", type=int, default=16 if is_small else 40)
    add("--accumulation", type=int, default=8 if is_small else 10)
    add("--device-iterations", type=int, default=1 if is_small else 10)
    add("--test-batch-size", type=int, default=8)
    add("--test-iterations", type=int, default=15 if is_small else 100)
    add("--learning-rate", type=float, default=0.001)
    add("--images", type=int, help="train on the first N images only")
    add("--strategy", choices=STRATEGIES, default="pipelined",
        help="all IPUs at once, or one after another")
    add("--offload-optimiser", action="store_true",
        help="keep the optimiser's state outside of the IPUs")
    add("--profile", action="store_true",
        help="keep the whole cost summary")
    add("--profile-dir", type=Path, default=Path("profile"),
        help="where --profile puts it")
    add("--debug", action="store_true", help="log what PopTorch does")
    return parser.parse_args(arguments)


def main():
    torch.manual_seed(0)
    data = datasets.load("MNIST", mean=0.1307, deviation=0.3081)
    arguments = parse_arguments(data.is_small)
    train_set = data.train.first(arguments.images).dataset()
    if arguments.profile:  # before an hour's work is lost for want of it
        arguments.profile_dir.mkdir(parents=True, exist_ok=True)
    if arguments.debug:
        poptorch.setLogLevel("DEBUG")
    print(f"Data: {data.name}: {len(train_set)} images to train on, "
          f"{len(data.test.labels)} to test")

    network = Network()
    options = training_options(arguments)
    optimizer = poptorch.optim.AdamW(network.parameters(),
                                     lr=arguments.learning_rate)
    model = poptorch.trainingModel(network, options, optimizer)
    rate = train(model,
                 poptorch.DataLoader(options, train_set,
                                     batch_size=arguments.batch_size,
                                     shuffle=True),
                 arguments.epochs)
    cost = model.getProfileSummary()
    model.detachFromDevice()

    options = inference_options(options, arguments)
    accuracy = test(poptorch.inferenceModel(network, options),
                    poptorch.DataLoader(options, data.test.dataset(),
                                        batch_size=arguments.test_batch_size))
    print(f"\nWhat the training would cost on four IPUs, estimated:\n\n"
          f"{headline(cost)}\n")
    if arguments.profile:
        report = arguments.profile_dir / "training.txt"
        report.write_text(cost)
        print(f"All of it is in {report}")
    print(f"Accuracy on the test set: {accuracy:.2f} %")
    print(f"Training speed on this machine: {rate:,.0f} images per second")


if __name__ == "__main__":
    main()
