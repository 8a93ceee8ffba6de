"""Times epochs of the course's script end to end: loading, training, printing.

The script reads torchvision's FashionMNIST with the usual transforms and trains
the course's CNN in batches of 16, shuffled; it is the same for both sides but
for what the PopTorch tutorial changes. Pictures are random bytes, so that
nothing is downloaded.

    scripts/with-sdk.sh python3 benchmarks/epoch.py
"""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import blas

OUTPUT = Path(__file__).resolve().parent.parent / "build/bench"
IMAGES = 16 * 500
TARGET = 3.0
HEAD = ["script", "side", "seconds", "ratio", "target", "verdict"]


def write_pictures(folder: Path):
    """The files that the dataset looks for; labels fit the pictures."""
    import numpy as np

    folder.mkdir(parents=True, exist_ok=True)
    numbers = np.random.default_rng(5)
    for part in ("train", "t10k"):
        labels = numbers.integers(0, 10, IMAGES, dtype=np.uint8)
        pictures = numbers.integers(0, 128, (IMAGES, 28, 28), dtype=np.uint8)
        pictures[np.arange(IMAGES), 2 * labels + 4] += 100
        sizes = [IMAGES, 28, 28]
        for name, values in ((f"{part}-images-idx3-ubyte", pictures),
                             (f"{part}-labels-idx1-ubyte", labels)):
            shape = np.array(sizes[:values.ndim], dtype=">u4").tobytes()
            (folder / name).write_bytes(
                bytes([0, 0, 8, values.ndim]) + shape + values.tobytes())


def train(side: str, epochs: int) -> list[float]:
    """In this process: seconds of each epoch."""
    import torch
    import torchvision
    from networks import NETWORKS, WithLoss
    from torchvision import transforms
    from tqdm import tqdm

    dataset = torchvision.datasets.FashionMNIST(
        OUTPUT / "data", transform=transforms.Compose(
            [transforms.ToTensor(), transforms.Normalize((0.5,), (0.5,))]))
    model = WithLoss(NETWORKS["fashion-cnn"].make_layers(True))
    settings = dict(lr=0.001, momentum=0.9)
    if side == "Aspen":
        import poptorch

        options = poptorch.Options()
        loader = poptorch.DataLoader(options, dataset, batch_size=16,
                                     shuffle=True)
        optimizer = poptorch.optim.SGD(model.parameters(), **settings)
        step = poptorch.trainingModel(model, options, optimizer)
    else:
        loader = torch.utils.data.DataLoader(dataset, batch_size=16,
                                             shuffle=True, drop_last=True)
        optimizer = torch.optim.SGD(model.parameters(), **settings)

        def step(images, labels):
            optimizer.zero_grad()
            scores, loss = model(images, labels)
            loss.backward()
            optimizer.step()
            return scores, loss

    figures = []
    for _ in range(epochs):
        start = time.perf_counter()
        total = 0.0
        for images, labels in tqdm(loader):
            _, loss = step(images, labels)
            total += loss.item()
        figures.append(time.perf_counter() - start)
    print(f"mean loss {total / len(loader):.4f}", file=sys.stderr)
    return figures


def run(core_type: str | None, rounds: int = 3) -> dict:
    """The median seconds of an epoch, by side; the first is a warm-up."""
    write_pictures(OUTPUT / "data/FashionMNIST/raw")
    cores = len(os.sched_getaffinity(0))
    sides = {"Aspen": cores, "PyTorch, 1 thread": 1,
             f"PyTorch, {cores} threads": cores}
    figures = {side: [] for side in sides}
    for _ in range(rounds):
        for side, threads in sides.items():
            environment = blas.environment(threads, core_type)
            answer = subprocess.run(
                [sys.executable, __file__, "--train", side], check=True,
                text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env={**os.environ, **environment}).stdout
            figures[side] += json.loads(answer)[1:]
    return {side: statistics.median(own) for side, own in figures.items()}


def rows(results: dict) -> list[list[str]]:
    ratio = min(s for side, s in results.items()
                if side != "Aspen") / results["Aspen"]
    verdict = [f"{ratio:.2f}", f"{TARGET:g}",
               "ok" if ratio >= TARGET else "MISSED"]
    return [[f"Fashion-MNIST CNN, epoch of {IMAGES} images", side,
             f"{seconds:.3f}", *(verdict if side == "Aspen" else [""] * 3)]
            for side, seconds in results.items()]


def main():
    if sys.argv[1:2] == ["--train"]:
        print(json.dumps(train(sys.argv[2].split(",")[0], epochs=3)))
        return
    from tables import table

    core_type, *_ = blas.best_core_type()
    print(table(HEAD, rows(run(core_type))))


if __name__ == "__main__":
    main()
