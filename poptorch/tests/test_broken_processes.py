# What is left when a process of a program breaks: a message, free IPUs, no
# other process. Programs are real ones, each with a system of one IPU.
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import torch

import poptorch

FOR_EVER = 1_000_000  # epochs
PATIENCE = 60  # seconds to get somewhere, on a busy machine
CLEAN_UP = 20  # seconds for processes to notice that their parent is gone

PROGRAM = """
import os
import signal

import poptorch
import torch


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        if index == 40:
            {fault}
        return torch.ones(4), index % 3


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 3)

    def forward(self, x, labels):
        return torch.nn.functional.cross_entropy(self.layer(x), labels)


def main():
    options = poptorch.Options().showCompilationProgressBar(False)
    loader = poptorch.DataLoader(options, Rows(), batch_size=4, {loader})
    model = poptorch.trainingModel(Model(), options)
    try:
        for epoch in range({epochs}):
            for x, labels in loader:
                model(x, labels)
                print("a step", flush=True)
    {handler}


if __name__ == "__main__":
    main()
"""

LOADERS = {
    "workers": "num_workers=2",
    "async": "mode=poptorch.DataLoaderMode.Async",
    "async workers": "num_workers=2, mode=poptorch.DataLoaderMode.Async",
    "async forked": (
        "num_workers=1, mode=poptorch.DataLoaderMode.Async, async_options={"
        "'sharing_strategy': poptorch.SharingStrategy.Fork}"
    ),
}


def heedInterrupts():
    """Tests may have been started in the background, where shells ignore them
    for all that follows."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Program:
    """A running program. Its processes are those of its session."""

    def __init__(self, text, folder):
        file = Path(folder) / "program.py"
        file.write_text(text)
        self.process = subprocess.Popen(
            [sys.executable, file], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True,
            preexec_fn=heedInterrupts,
        )  # fmt: skip
        # A program that does not do what a test waits for ends all the same.
        self._watchdog = threading.Timer(2 * PATIENCE, self.process.kill)
        self._watchdog.start()

    def waitFor(self, line):
        for printed in self.process.stdout:
            if printed == line + "\n":
                return
        pytest.fail(f"ended before '{line}': {self.process.stderr.read()}")

    def finish(self):
        """Its exit code and what it wrote to its error stream."""
        _, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, errors

    def left(self):
        """Processes of the session that still exist, zombies too."""
        found = {}
        for entry in Path("/proc").glob("[0-9]*/stat"):
            try:
                name, rest = entry.read_text().rsplit(")", 1)
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(rest.split()[3]) == self.process.pid:
                found[int(entry.parent.name)] = name
        return found

    def assertNothingIsLeft(self):
        end = time.monotonic() + CLEAN_UP
        while left := self.left():
            assert time.monotonic() < end, f"processes are left: {left}"
            time.sleep(0.05)

    def kill(self):
        self._watchdog.cancel()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for pid in self.left():
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def start(tmp_path, monkeypatch):
    monkeypatch.setenv("ASPEN_SYSTEM", "ipu2")
    monkeypatch.setenv("ASPEN_REGISTRY", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    started = []

    def startOne(fault="pass", loader="workers", epochs=1,
                 handler="finally: pass"):  # fmt: skip
        text = PROGRAM.format(
            fault=fault, loader=LOADERS[loader], epochs=epochs, handler=handler
        )
        started.append(Program(text, tmp_path))
        return started[-1]

    yield startOne
    for program in started:
        program.kill()


def assertTheIpuIsFree():
    options = poptorch.Options().showCompilationProgressBar(False)
    model = poptorch.inferenceModel(torch.nn.Linear(2, 1), options)
    model(torch.ones(1, 2))
    model.destroy()


@pytest.mark.parametrize("loader", ["workers", "async workers"])
def test_aDatasetThatRaisesIsQuoted(start, loader):
    program = start('raise ValueError("row 40 is damaged")', loader)
    code, errors = program.finish()
    assert code == 1
    assert "ValueError: row 40 is damaged" in errors
    assertTheIpuIsFree()
    program.assertNothingIsLeft()


@pytest.mark.parametrize(
    "loader, message",
    [
        # torch's own, by what it meets first
        ("workers", r"DataLoader worker \(pid|ConnectionResetError|EOFError"),
        ("async", "An error occurred in the data fetcher: it has ended"),
        ("async workers", "An error occurred in the data fetcher: .*worker"),
    ],
)
def test_aWorkerThatDiesIsAnError(start, loader, message):
    program = start("os.kill(os.getpid(), signal.SIGKILL)", loader)
    code, errors = program.finish()
    assert code == 1
    assert re.search(message, errors)
    assertTheIpuIsFree()
    program.assertNothingIsLeft()


@pytest.mark.parametrize("loader", ["workers", "async workers"])
def test_anInterruptEndsTheProgram(start, loader):
    program = start(loader=loader, epochs=FOR_EVER)
    program.waitFor("a step")
    os.killpg(program.process.pid, signal.SIGINT)  # as a terminal does it
    code, errors = program.finish()
    assert code == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assertTheIpuIsFree()
    program.assertNothingIsLeft()


def test_anInterruptedModelCanBeUsed(start):
    """The step that was running is finished first."""
    program = start(
        loader="async", epochs=FOR_EVER,
        handler="except KeyboardInterrupt: print(model(x, labels).shape)",
    )  # fmt: skip
    program.waitFor("a step")
    os.killpg(program.process.pid, signal.SIGINT)
    program.waitFor("torch.Size([])")
    code, errors = program.finish()
    assert code == 0
    assert "Traceback" not in errors  # labels are narrowed, which is said
    assertTheIpuIsFree()
    program.assertNothingIsLeft()


@pytest.mark.parametrize(
    "loader, sent",
    [
        ("workers", signal.SIGKILL),
        ("async workers", signal.SIGKILL),
        ("async forked", signal.SIGKILL),
        ("async workers", signal.SIGTERM),
    ],
)
def test_aKilledProgramLeavesNothing(start, loader, sent):
    program = start(loader=loader, epochs=FOR_EVER)
    program.waitFor("a step")
    program.process.send_signal(sent)
    code, _ = program.finish()
    assert code == -sent
    assertTheIpuIsFree()
    program.assertNothingIsLeft()
