# The course's labs as their users write them, in processes of their own, with
# MNIST's files where torchvision looks. FULL_EXAMPLES=1 runs them whole.
import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

LABS = Path(__file__).resolve().parent / "course_labs"
ROOT = LABS.parents[2]
IS_FULL = os.environ.get("FULL_EXAMPLES") == "1"


def mnistFolder():
    for base in (os.environ.get("ASPEN_DATA"), ROOT.parent / "shared/data"):
        if base and Path(base, "mnist/train-images-idx3-ubyte.gz").is_file():
            return Path(base, "mnist")
    return None


MNIST = mnistFolder()
pytestmark = pytest.mark.skipif(
    MNIST is None, reason="no mnist/*-ubyte.gz in the folder of $ASPEN_DATA"
)


@pytest.fixture
def folder(tmp_path):
    """MNIST's files, as MNIST and as Fashion-MNIST."""
    for name in ("MNIST", "FashionMNIST"):
        (tmp_path / name / "raw").mkdir(parents=True)
    for packed in MNIST.glob("*-ubyte.gz"):
        target = tmp_path / "MNIST/raw" / packed.stem
        with gzip.open(packed) as source, open(target, "wb") as file:
            shutil.copyfileobj(source, file)
        os.link(target, tmp_path / "FashionMNIST/raw" / packed.stem)
    return tmp_path


def run(lab, folder, *arguments):
    """What the lab says its accuracy is, and its error stream."""
    done = subprocess.run(
        [sys.executable, LABS / lab, folder, *map(str, arguments)],
        capture_output=True, text=True, timeout=3000,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    accuracy = re.search(r"ccuracy(?: on test set)?: ([\d.]+)%", done.stdout)
    return float(accuracy[1]), done.stderr


def test_fashionLab(folder):
    arguments = [5] if IS_FULL else [1, 6400]
    accuracy, errors = run("fashion_lab.py", folder, *arguments)
    assert accuracy >= (97 if IS_FULL else 75)
    assert errors.count("Graph compilation: 100%") >= 2


def test_pipeliningLab(folder):
    accuracy, errors = run(
        "pipelining_lab.py", folder, *([] if IS_FULL else [8000])
    )
    # 8000 images are two steps of an epoch, six in all: 60 updates.
    assert accuracy >= (98 if IS_FULL else 85)
    assert f"{15 if IS_FULL else 2}/{15 if IS_FULL else 2}" in errors
