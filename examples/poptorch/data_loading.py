"""Feeding the IPU: where the time goes, and what makes data come sooner.

A call of a model should find its data ready. The program times the parts alone
(the loader without the IPU, the IPU without data from the host) and then both
together, each way of loading in turn: in the program itself, by worker
processes, and by a process that fills buffers while the IPU is busy. Several
device iterations in a call let the IPU work through several batches without the
host.
"""

import argparse
import time

import poptorch
import torch
from torch import nn

BATCH = 16
WAYS = {
    "in this process": dict(),
    "worker processes": dict(num_workers=2),
    "asynchronous": dict(
        num_workers=2, mode=poptorch.DataLoaderMode.Async,
        async_options={"early_preload": True}),
    # Workers load small pieces that are put together to whole steps, so that
    # the end of the data is used even if it fills no step of a worker's own.
    "asynchronous, rebatched": dict(
        num_workers=2, mode=poptorch.DataLoaderMode.AsyncRebatched,
        rebatched_worker_size=BATCH),
}


class Pictures(torch.utils.data.Dataset):
    """Pictures that are made when they are asked for, which takes a while."""

    def __init__(self, count: int):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        label = index % 10
        picture = torch.randn(1, 32, 32, generator=generator)
        picture[:, 3 * label: 3 * label + 3] += 1
        return picture, label


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 8, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
            nn.Linear(8 * 14 * 14, 64), nn.ReLU(), nn.Linear(64, 10))
        self.loss = nn.CrossEntropyLoss()

    def forward(self, pictures, labels):
        return self.loss(self.layers(pictures), labels)


def options_of(device_iterations: int, synthetic=False) -> poptorch.Options:
    options = poptorch.Options().deviceIterations(device_iterations)
    options.showCompilationProgressBar(False)
    options.enableSyntheticData(synthetic)
    return options


def training_model(options):
    torch.manual_seed(0)
    network = Network()
    optimizer = poptorch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9)
    return poptorch.trainingModel(network, options, optimizer)


def rate(loader, work) -> float:
    """Pictures a second; the first batch, which starts everything, is not
    counted."""
    batches = iter(loader)
    work(*next(batches))
    start = time.perf_counter()
    count = 0
    for pictures, labels in batches:
        work(pictures, labels)
        count += len(labels)
    return count / (time.perf_counter() - start)


def ipu_alone(dataset, device_iterations: int) -> float:
    """With synthetic data the model runs, but nothing comes from the host."""
    options = options_of(device_iterations, synthetic=True)
    model = training_model(options)
    loader = poptorch.DataLoader(options, dataset, BATCH)
    one_step = next(iter(loader))
    found = rate([one_step] * len(loader), model)
    model.destroy()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=int, default=6000)
    parser.add_argument("--device-iterations", type=int, default=20)
    arguments = parser.parse_args()
    dataset = Pictures(arguments.pictures)

    print(f"{'pictures a second':<26}{'loader':>10}{'IPU':>10}{'both':>10}")
    for iterations in (1, arguments.device_iterations):
        alone = ipu_alone(dataset, iterations)
        for name, settings in WAYS.items():
            options = options_of(iterations)
            loader = poptorch.DataLoader(options, dataset, BATCH, **settings)
            loading = rate(loader, lambda *_: None)
            model = training_model(options)
            both = rate(loader, model)
            model.destroy()
            loader.terminate()
            print(f"{name:<26}{loading:>10,.0f}{alone:>10,.0f}{both:>10,.0f}")
        print(f"with {iterations} device iteration{'s' * (iterations > 1)}\n",
              flush=True)


# Processes that load data import this file again: they must not run main().
if __name__ == "__main__":
    main()
