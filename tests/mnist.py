"""MNIST's files as C++ programs read them, for the tests that train on it."""

import gzip
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent /
                       "examples/poptorch"))

import datasets  # noqa: E402


def unpack_into(folder: Path) -> Path:
    """The four IDX files, not gzipped; skips the test where there are none."""
    found = datasets.find_folder("MNIST")
    if found is None:
        pytest.skip("MNIST is not on this machine: put its four files into a "
                    "folder and name it in ASPEN_DATA")
    for names in datasets.FILES.values():
        for name in names:
            path = datasets.idx_file(found, name)
            data = path.read_bytes()
            if path.suffix == ".gz":
                data = gzip.decompress(data)
            (folder / name).write_bytes(data)
    return folder


def load(folder: Path) -> datasets.Digits:
    """The same as tensors with values from 0 to 1."""
    return datasets.load_idx("MNIST", folder, mean=0, deviation=1)
