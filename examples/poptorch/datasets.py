"""Handwritten digits (or clothes) for the examples, from where they are found.

Images are float tensors [count, 1, 28, 28], labels int64 [count]. Looked for,
in this order, as the original IDX files, plain or gzipped:

    $ASPEN_DATA, ./data, ~/.torch/datasets, and shared/data beside this project

each with or without a folder of the set's name. Where there is none, the 8x8
digits that scikit-learn carries stand in, made larger: 1,797 images, which is
enough to see a network learn.
"""

import argparse
import gzip
import os
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

PROJECT = Path(__file__).resolve().parent.parent.parent
FOLDERS = {
    "MNIST": ("mnist", "MNIST/raw", "MNIST", "."),
    "Fashion-MNIST": ("fashion-mnist", "FashionMNIST/raw", "FashionMNIST"),
}
FILES = {
    "train": ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
    "test": ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
}
IDX_UNSIGNED_BYTE = 8


@dataclass
class Split:
    images: torch.Tensor
    labels: torch.Tensor

    def dataset(self) -> torch.utils.data.TensorDataset:
        return torch.utils.data.TensorDataset(self.images, self.labels)

    def first(self, count: int) -> "Split":
        return Split(self.images[:count], self.labels[:count])


@dataclass
class Digits:
    name: str
    train: Split
    test: Split

    @property
    def is_small(self) -> bool:
        return len(self.train.labels) < 10_000


def read_idx(path: Path) -> np.ndarray:
    """An IDX file of bytes: two zeros, type, rank, sizes, then the values."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rb") as file:
        data = file.read()
    if len(data) < 4 or data[0] or data[1] or data[2] != IDX_UNSIGNED_BYTE:
        raise ValueError(f"{path} is not an IDX file of bytes: it starts with "
                         f"{data[:4].hex()}")
    rank = data[3]
    header = 4 + 4 * rank
    if len(data) < header:
        raise ValueError(f"{path} ends inside its header")
    shape = struct.unpack(f">{rank}I", data[4:header])
    expected = header + int(np.prod(shape))
    if len(data) != expected:
        raise ValueError(f"{path} has {len(data)} bytes; its header {shape} "
                         f"says {expected}")
    return np.frombuffer(data, np.uint8, offset=header).reshape(shape)


def idx_file(folder: Path, name: str) -> Path | None:
    for path in (folder / f"{name}.gz", folder / name):
        if path.is_file():
            return path
    return None


def find_folder(name: str) -> Path | None:
    """The folder that holds all four files of the set, or None."""
    bases = [Path("data"), Path("~/.torch/datasets").expanduser(),
             PROJECT.parent / "shared/data"]
    if os.environ.get("ASPEN_DATA"):
        bases.insert(0, Path(os.environ["ASPEN_DATA"]))
    for base in bases:
        for inside in FOLDERS[name]:
            folder = base / inside
            if all(idx_file(folder, f) for fs in FILES.values() for f in fs):
                return folder
    return None


def normalised(pixels: np.ndarray, mean: float, deviation: float):
    images = torch.from_numpy(pixels.astype(np.float32) / 255)
    return ((images - mean) / deviation).unsqueeze(1)


def load_idx(name: str, folder: Path, mean: float, deviation: float) -> Digits:
    splits = {}
    for split, (images, labels) in FILES.items():
        pixels = read_idx(idx_file(folder, images))
        classes = read_idx(idx_file(folder, labels))
        if pixels.shape[1:] != (28, 28) or len(pixels) != len(classes):
            raise ValueError(f"{folder}: images {pixels.shape} and labels "
                             f"{classes.shape} do not belong together")
        splits[split] = Split(normalised(pixels, mean, deviation),
                              torch.from_numpy(classes.astype(np.int64)))
    return Digits(f"{name} from {folder}", **splits)


def load_small(mean: float, deviation: float) -> Digits:
    from sklearn.datasets import load_digits

    digits = load_digits()
    pixels = torch.from_numpy(digits.images.astype(np.float32))  # 0 to 16
    large = torch.nn.functional.interpolate(
        pixels.unsqueeze(1), size=(20, 20), mode="bilinear",
        align_corners=False)
    # MNIST's digits stand in the 20x20 middle of the picture too.
    large = torch.nn.functional.pad(large, (4, 4, 4, 4)) / 16
    # Neighbours were written by one hand: mixed, so that all hands are in both.
    order = torch.randperm(len(large), generator=torch.Generator().manual_seed(1))
    images = ((large - mean) / deviation)[order]
    labels = torch.from_numpy(digits.target.astype(np.int64))[order]
    return Digits("scikit-learn's 8x8 digits, enlarged",
                  Split(images[:1437], labels[:1437]),
                  Split(images[1437:], labels[1437:]))


def load(*names: str, mean: float, deviation: float) -> Digits:
    """The first of the named sets that is found, else the small one."""
    for name in names:
        if folder := find_folder(name):
            return load_idx(name, folder, mean, deviation)
    return load_small(mean, deviation)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--probe", action="store_true",
                        help="only say, by the exit code, if MNIST is found")
    parser.parse_args()
    sys.exit(0 if find_folder("MNIST") else 1)
