"""Each example runs in a short form and learns or shows something."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import datasets  # noqa: E402


IS_SMALL = datasets.find_folder("MNIST") is None
PIPELINE = [] if IS_SMALL else [
    "--images", "4000", "--device-iterations", "1", "--batch-size", "10",
    "--accumulation", "8", "--epochs", "3"]
WITH_WHEELS = datasets.PROJECT / "build/venv/bin/python3"

whole_mnist = pytest.mark.skipif(
    os.environ.get("FULL_EXAMPLES") != "1" or IS_SMALL,
    reason="for FULL_EXAMPLES=1, with MNIST's files where datasets.py looks")


def run(program: str, *arguments, python=sys.executable) -> tuple[str, str]:
    """What a program prints, and what it writes to its error stream."""
    done = subprocess.run(
        [python, str(HERE / program), *map(str, arguments)],
        capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, done.stderr


def accuracy_of(program: str, *arguments) -> float:
    return float(re.search(r"Accuracy on the test set: ([\d.]+) %",
                           run(program, *arguments)[0])[1])


def test_mnist_pipeline_learns_and_is_priced(tmp_path):
    assert accuracy_of("mnist_pipeline.py", "--profile", "--profile-dir",
                       tmp_path, *PIPELINE) > 90
    assert "Total cycles" in (tmp_path / "training.txt").read_text()


def test_mnist_pipeline_takes_the_other_options():
    assert accuracy_of("mnist_pipeline.py", "--strategy", "sharded", "--debug",
                       "--offload-optimiser", "--learning-rate", "0.002",
                       *PIPELINE) > 90


@whole_mnist
def test_mnist_pipeline_reaches_the_published_accuracy():
    assert accuracy_of("mnist_pipeline.py") >= 98


FASHION = ["--epochs", 10] if IS_SMALL else ["--images", 8000, "--epochs", 1]


def picture_of_a_digit(file: Path):
    """A test digit the way people draw: dark on light, in colours, larger."""
    digits = datasets.load("Fashion-MNIST", "MNIST", mean=0.0, deviation=1.0)
    pixels = (255 * (1 - digits.test.images[0, 0])).byte().numpy()
    Image.fromarray(pixels).resize((112, 112)).convert("RGB").save(file)


def test_fashion_mnist_learns_and_uses_what_it_saved(tmp_path):
    picture = tmp_path / "own.png"
    picture_of_a_digit(picture)
    text, _ = run("fashion_mnist.py", picture, "--output", tmp_path, *FASHION)
    assert float(re.search(r"test set: ([\d.]+) %", text)[1]) > 75
    on_ipu, on_cpu = re.search(
        r"own.png: (.+) on the IPU, (.+) on the CPU", text).groups()
    assert on_ipu == on_cpu
    weights = torch.load(tmp_path / "classifier.pth")
    assert all(type(w) is torch.Tensor for w in weights.values())
    assert Image.open(tmp_path / "confusion_matrix.png").size[0] > 400


def test_fashion_mnist_takes_its_options(tmp_path):
    assert accuracy_of("fashion_mnist.py", "--device-iterations", 4,
                       "--replicas", 2, "--seed", 3, "--workers", 1,
                       "--output", tmp_path, *FASHION) > 50


@whole_mnist
def test_fashion_mnist_learns_digits(tmp_path):
    assert accuracy_of("fashion_mnist.py", "--epochs", 5, "--output",
                       tmp_path) >= 97


def test_data_loading_is_timed():
    text, _ = run("data_loading.py", "--pictures", 320,
                  "--device-iterations", 4)
    rows = re.findall(r"^([a-z, ]+?) +([\d,]+) +([\d,]+) +([\d,]+)$", text,
                      re.M)
    assert len(rows) == 8 and len({name for name, *_ in rows}) == 4


def test_halves_learn_as_floats_do():
    text, _ = run("mixed_precision.py", *FASHION)
    found = re.findall(r"([\d,]+) bytes of weights, ([\d.]+) % right", text)
    sizes = [int(size.replace(",", "")) for size, _ in found]
    accuracies = [float(accuracy) for _, accuracy in found]
    assert sizes[0] == 2 * sizes[1]
    assert min(accuracies) > 85
    assert accuracies[1] == pytest.approx(accuracies[0], abs=5)


def test_tensors_are_observed(tmp_path):
    file = tmp_path / "gradients.csv"
    text, errors = run("observing_tensors.py", "--output", file)
    assert "Gradient___first.weight" in text
    values = {name: (int(count), float(total)) for name, count, total in
              re.findall(r"OutputMode.(\w+): (\d+).*sum ([\d.]+)", text)}
    assert {n: c for n, (c, _) in values.items()} == dict(
        Final=1, Sum=1, EveryN=2, All=20)
    assert values["Sum"][1] == pytest.approx(values["All"][1], abs=1e-3)
    steps = np.loadtxt(file, delimiter=",", skiprows=1)
    assert steps[:, 1].sum() == pytest.approx(values["All"][1], abs=1e-3)
    assert "hidden: (" in errors and "hidden_gradient: (" in errors


def test_a_bert_is_fine_tuned():
    probe = [WITH_WHEELS, "-c", "import transformers"]
    if not WITH_WHEELS.exists() or subprocess.run(
            probe, capture_output=True).returncode:
        pytest.skip("transformers is not in build/venv: "
                    "scripts/install-wheels.sh gets it from PyPI")
    text, errors = run("finetuning_bert.py", "--texts", 1024, "--layers", 2,
                       "--epochs", 3, python=WITH_WHEELS)
    losses = [float(n) for n in re.findall(r"loss ([\d.]+)", text)]
    assert losses[-1] < 0.7 * losses[0]
    assert "Ignoring unexpected" not in errors


def test_a_custom_operator_is_trained(tmp_path):
    library = tmp_path / "libswish.so"
    source = HERE.parent / "popart/custom_operator/swish.cpp"
    subprocess.run(["g++", "-std=c++14", "-fPIC", "-shared", source, "-lpopart",
                    "-lpopops", "-lpoplar", "-o", library], check=True)
    text, _ = run("custom_operator.py", library)
    first, last = map(float, re.search(
        r"loss ([\d.]+) at first, ([\d.]+) at last", text).groups())
    assert last < 0.1 * first
    assert float(re.search(r"differ by (\S+)", text)[1]) < 1e-5


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
