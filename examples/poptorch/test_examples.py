"""Each example runs in a short form and learns something."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import datasets  # noqa: E402


def accuracy_of(program: str, *arguments: str) -> float:
    done = subprocess.run(
        [sys.executable, str(HERE / program), *arguments],
        capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return float(re.search(r"Accuracy on the test set: ([\d.]+) %",
                           done.stdout)[1])


PIPELINE = [] if datasets.find_folder("MNIST") is None else [
    "--images", "4000", "--device-iterations", "1", "--batch-size", "10",
    "--accumulation", "8", "--epochs", "3"]


def test_mnist_pipeline_learns_and_is_priced(tmp_path):
    assert accuracy_of("mnist_pipeline.py", "--profile", "--profile-dir",
                       str(tmp_path), *PIPELINE) > 90
    assert "Total cycles" in (tmp_path / "training.txt").read_text()


def test_mnist_pipeline_takes_the_other_options():
    assert accuracy_of("mnist_pipeline.py", "--strategy", "sharded", "--debug",
                       "--offload-optimiser", "--learning-rate", "0.002",
                       *PIPELINE) > 90


def test_fashion_mnist_learns():
    is_small = datasets.find_folder("MNIST") is None
    arguments = ["--epochs", "10"] if is_small else [
        "--images", "8000", "--epochs", "1"]
    assert accuracy_of("fashion_mnist.py", *arguments) > 75


def idx(shape, values=None) -> bytes:
    values = bytes(int(np.prod(shape))) if values is None else values
    sizes = b"".join(n.to_bytes(4, "big") for n in shape)
    return bytes([0, 0, 8, len(shape)]) + sizes + values


def test_read_idx_gives_the_array(tmp_path):
    file = tmp_path / "x-idx2-ubyte"
    file.write_bytes(idx((2, 3), bytes(range(6))))
    assert datasets.read_idx(file).tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("data, message", [
    (b"", "not an IDX file"),
    (b"\0\0\x0d\1\0\0\0\0", "not an IDX file"),
    (b"\0\0\x08\3\0\0", "ends inside its header"),
    (idx((2, 3))[:-1], "says 18"),
])
def test_read_idx_rejects_damage(tmp_path, data, message):
    file = tmp_path / "damaged"
    file.write_bytes(data)
    with pytest.raises(ValueError, match=message):
        datasets.read_idx(file)
