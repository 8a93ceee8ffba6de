"""Each example runs and learns something."""
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def test_digits_are_learnt_and_the_model_is_read_back(tmp_path):
    done = subprocess.run(
        [sys.executable, str(HERE / "digits.py"), "--model",
         str(tmp_path / "trained.onnx")],
        capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert float(re.search(r"Accuracy on the test set: ([\d.]+) %",
                           done.stdout)[1]) > 85


def test_a_custom_operator_is_built_loaded_and_trained(tmp_path):
    folder = HERE / "custom_operator"
    library = tmp_path / "libswish.so"
    subprocess.run(
        ["g++", "-std=c++14", "-Wall", "-Wextra", "-Werror", "-fPIC",
         "-shared", str(folder / "swish.cpp"), "-lpopart", "-lpopops",
         "-lpoplar", "-o", str(library)], check=True)
    done = subprocess.run(
        [sys.executable, str(folder / "swish.py"), str(library)],
        capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    first, last = re.findall(r"loss ([\d.]+)", done.stdout)
    assert float(last) < 0.01 * float(first)
