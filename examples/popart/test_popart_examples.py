"""Each example runs and shows what it says."""
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


def run(program: str, *arguments) -> str:
    done = subprocess.run(
        [sys.executable, str(HERE / program), *map(str, arguments)],
        capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def numbers(text: str, label: str) -> list:
    """The numbers after the label, on its line."""
    line = re.search(rf"{label}:? *(.*)", text)[1]
    return [float(n) for n in re.findall(r"-?\d+\.?\d*", line)]


def test_digits_are_learnt_and_the_model_is_read_back(tmp_path):
    text = run("digits.py", "--model", tmp_path / "trained.onnx")
    assert numbers(text, "Accuracy on the test set")[0] > 85


@pytest.mark.parametrize("arguments", [
    ["--epochs", 3], ["--ipus", 2, "--pipeline"], ["--replicas", 2],
], ids=["plain", "pipelined", "replicated"])  # fmt: skip
def test_digits_are_learnt_by_convolutions(tmp_path, arguments):
    text = run("digits_conv.py", "--model", tmp_path / "m.onnx", *arguments)
    found = re.findall(r"loss ([\d.]+), accuracy ([\d.]+) %", text)
    assert float(found[-1][0]) < float(found[0][0])
    assert float(found[-1][1]) > 75
    assert numbers(text, "Cycles of an epoch")[0] > 0


def test_synthetic_data_needs_no_host(tmp_path):
    text = run("digits_conv.py", "--model", tmp_path / "m.onnx", "--epochs",
               1, "--synthetic")
    assert numbers(text, "Cycles of an epoch")[0] > 0


def test_models_are_imported(tmp_path):
    text = run("importing.py", "--folder", tmp_path)
    largest, difference = numbers(text, "Largest output")
    assert 0 < difference < 0.01 * largest
    losses = numbers(text, "Losses")
    assert losses == sorted(losses, reverse=True) and losses[0] > losses[-1]


def test_callbacks_are_called_in_order():
    lines = run("callbacks.py", "--steps", 3).splitlines()
    assert lines[:4] == ["a <- 0", "a was copied", "b <- 0", "b was copied"]
    assert lines[-1] == "Results: 0 20 40"


def test_sharding_is_timed():
    assert numbers(run("sharding.py", "--batches", 4), "IPUs")[0] > 0


def test_pipelines_learn_the_same_faster():
    plain = run("pipelining.py", "--no-pipelining")
    piped = run("pipelining.py")
    assert numbers(plain, "Losses") == pytest.approx(
        numbers(piped, "Losses"), rel=1e-4)
    assert numbers(plain, "Losses")[-1] < numbers(plain, "Losses")[0]
    assert numbers(piped, "Cycles")[0] < numbers(plain, "Cycles")[0]


def test_recomputation_changes_no_value():
    results = {mode: run("recomputing.py", "--mode", mode)
               for mode in ("none", "auto", "manual")}
    losses = {mode: numbers(text, "Losses")
              for mode, text in results.items()}
    assert losses["none"] == losses["auto"] == losses["manual"]
    memory = {mode: numbers(text, "Bytes of variables")[0]
              for mode, text in results.items()}
    assert memory["auto"] < memory["none"]
    assert memory["manual"] < memory["none"]


def test_phases_compute_what_numpy_does():
    text = run("phased_execution.py", "--layers", 4, "--width", 32)
    assert float(re.search(r"NumPy: (\S+)", text)[1]) < 1e-5
    assert numbers(text, "Loss")[0] > 0


def test_replicas_have_weights_of_their_own():
    text = run("replication.py")
    assert "Losses: [1.0, 2.0, 30.0, 40.0]" in text
    # shared: 1 - (1 + 2 + 30 + 40); groups: 1 - (1 + 2) and 10 - (3 + 4).
    assert ("After a step: shared = [-72.0] grouped = [-2.0, -2.0, 3.0, 3.0]"
            in text)
    assert "Written: shared = [-72.0] grouped = [5.0, 5.0, 6.0, 6.0]" in text


def test_an_encoder_learns(tmp_path):
    losses = [float(n) for n in re.findall(
        r"loss ([\d.]+)", run("encoder.py", "--folder", tmp_path))]
    assert losses[-1] < 0.8 * losses[0]
    assert (tmp_path / "weights.bin").stat().st_size > 1000


def test_an_encoder_is_compiled_for_ipus_that_are_not_there(tmp_path):
    text = run("encoder.py", "--folder", tmp_path, "--offline")
    assert text == "Compiled encoder.popef: True\n"


def test_a_custom_operator_is_built_loaded_and_trained(tmp_path):
    folder = HERE / "custom_operator"
    library = tmp_path / "libswish.so"
    subprocess.run(
        ["g++", "-std=c++14", "-Wall", "-Wextra", "-Werror", "-fPIC",
         "-shared", str(folder / "swish.cpp"), "-lpopart", "-lpopops",
         "-lpoplar", "-o", str(library)], check=True)
    text = run("custom_operator/swish.py", library)
    first, last = re.findall(r"loss ([\d.]+)", text)
    assert float(last) < 0.01 * float(first)
