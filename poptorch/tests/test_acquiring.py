"""What users see when IPUs are taken by others, and when there are none."""

import subprocess
import sys
import threading

import poptorch
import pytest
import torch
from poptorch import _compilation

HOLDER = """
import sys
import poptorch
import torch
options = poptorch.Options().showCompilationProgressBar(False)
model = poptorch.inferenceModel(torch.nn.Linear(2, 1), options)
model(torch.ones(1, 2))
print("attached", flush=True)
sys.stdin.read()
"""


def run():
    options = poptorch.Options().showCompilationProgressBar(False)
    model = poptorch.inferenceModel(torch.nn.Linear(2, 1), options)
    return model(torch.ones(1, 2))


@pytest.fixture
def holder(tmp_path, monkeypatch):
    """Another process has the only IPU of the system."""
    monkeypatch.setenv("ASPEN_SYSTEM", "ipu2")
    monkeypatch.setenv("ASPEN_REGISTRY", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True)  # fmt: skip
    assert process.stdout.readline() == "attached\n"
    yield process
    process.kill()
    process.wait()


def test_takenIpusAreAnError(holder):
    places = r"  \[0\] Compiler::initSession\n  \[1\] LowerToPopart::compile"
    with pytest.raises(
        poptorch.Error,
        match=r"Failed to acquire 1 IPU\(s\)\nError raised in:\n" + places + "$",
    ):
        run()
    holder.kill()
    holder.wait()
    run()


def test_waitsWhenAsked(holder, monkeypatch):
    monkeypatch.setenv("POPTORCH_WAIT_FOR_IPU", "1")
    monkeypatch.setattr(_compilation, "_WAIT_SECONDS", 0.05)
    timer = threading.Timer(0.5, holder.kill)
    timer.start()
    run()
    assert holder.wait(timeout=10) != 0  # it ended before the IPU was free


@pytest.mark.parametrize("system, text", [
    ("none", "No IPU detected in the system"),
    ("ipu2", "No device found on the system with 2 IPUs"),
])  # fmt: skip
def test_doesNotWaitForWhatIsNotThere(monkeypatch, tmp_path, system, text):
    monkeypatch.setenv("POPTORCH_WAIT_FOR_IPU", "1")
    monkeypatch.setenv("ASPEN_SYSTEM", system)
    monkeypatch.setenv("ASPEN_REGISTRY", str(tmp_path))
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    poptorch.BeginBlock(model[0], ipu_id=0)
    poptorch.BeginBlock(model[1], ipu_id=1)
    options = poptorch.Options().showCompilationProgressBar(False)
    options.deviceIterations(2)
    with pytest.raises(poptorch.Error, match=text):
        poptorch.inferenceModel(model, options)(torch.ones(2, 2))


def test_hardwareIsWhatTheSystemHas(monkeypatch):
    assert poptorch.ipuHardwareIsAvailable()
    assert poptorch.ipuHardwareIsAvailable(16)
    assert not poptorch.ipuHardwareIsAvailable(3)
    assert not poptorch.ipuHardwareIsAvailable(32)
    assert poptorch.ipuHardwareVersion() == 2
    monkeypatch.setenv("ASPEN_SYSTEM", "c600")
    assert poptorch.ipuHardwareVersion() == 21
    monkeypatch.setenv("ASPEN_SYSTEM", "none")
    assert not poptorch.ipuHardwareIsAvailable()
