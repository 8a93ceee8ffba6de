"""Emulated IPUs are shared by processes: each has one holder at a time."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from user_program import UserProgram

PROGRAMS = Path(__file__).resolve().parent / "device_programs"


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    def build(name: str) -> Path:
        folder = tmp_path_factory.mktemp(name)
        return UserProgram(PROGRAMS / f"{name}.cpp", folder).program

    return {name: build(name) for name in ("hold", "compete")}


class Process:
    """A process that attaches devices on command (device_programs/hold.cpp)."""

    def __init__(self, program: Path):
        self.process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, bufsize=1)

    def ask(self, command: str) -> str:
        print(command, file=self.process.stdin)
        return self.process.stdout.readline().strip()

    def attach(self, device: int) -> bool:
        return {"yes": True, "no": False}[self.ask(f"attach {device}")]

    def detach(self, device: int):
        assert self.ask(f"detach {device}") == "done"

    def kill(self):
        self.process.kill()
        self.process.wait()

    def finish(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=60) == 0


@pytest.fixture
def start(programs, tmp_path, monkeypatch):
    monkeypatch.setenv("ASPEN_REGISTRY", str(tmp_path))
    started = []

    def start_one() -> Process:
        started.append(Process(programs["hold"]))
        return started[-1]

    yield start_one
    for process in started:
        process.kill()


@pytest.fixture
def child_of():
    """Starts a child of a process; ends it with the test."""
    children = []

    def start_child(process: Process, kind: str):
        children.append(int(process.ask(kind)))

    yield start_child
    for child in children:
        os.kill(child, signal.SIGKILL)


def test_devices_that_share_an_ipu_exclude_each_other(start):
    first, second = start(), start()
    assert first.attach(2)
    assert not second.attach(2)
    assert not second.attach(17)  # IPUs 2 and 3
    assert not second.attach(30)  # all 16
    assert second.attach(3)  # not left behind by the failed pair
    second.detach(3)
    first.detach(2)
    assert second.attach(30)
    assert not first.attach(2)


def test_a_process_that_ends_leaves_its_devices(start):
    first, second = start(), start()
    assert first.attach(30)
    first.finish()
    assert second.attach(30)


def test_a_process_that_is_killed_leaves_its_devices_at_once(start):
    first, second = start(), start()
    assert first.attach(24)
    first.kill()
    assert second.attach(24)


@pytest.mark.parametrize("kind", ["fork", "exec"])
def test_children_do_not_hold_what_their_parent_held(start, child_of, kind):
    first, second = start(), start()
    assert first.attach(0)
    child_of(first, kind)
    assert not second.attach(0)
    first.kill()  # the child lives on
    assert second.attach(0)


def test_waiting_is_asking_again(start):
    first, second = start(), start()
    assert first.attach(5)
    assert not any(second.attach(5) for _ in range(100))
    first.detach(5)
    assert second.attach(5)


def test_opposite_orders_do_not_block(start):
    """Each has what the other wants: both are refused, nobody waits."""
    first, second = start(), start()
    assert first.attach(0) and second.attach(1)
    assert not first.attach(1) and not second.attach(0)
    assert not first.attach(16) and not second.attach(16)
    first.detach(0)
    second.detach(1)
    assert first.attach(16)


def test_many_processes_never_share_an_ipu(programs, tmp_path, monkeypatch):
    """50 processes want 1 to 16 of 16 IPUs; marks are the witnesses."""
    monkeypatch.setenv("ASPEN_REGISTRY", str(tmp_path))
    marks = tmp_path / "marks"
    marks.mkdir()
    sizes = [1] * 20 + [2] * 15 + [4] * 10 + [8] * 3 + [16] * 2
    began = time.monotonic()
    processes = [
        subprocess.Popen([programs["compete"], str(size), "40", marks],
                         stderr=subprocess.PIPE, text=True) for size in sizes
    ]
    try:
        for process in processes:
            _, errors = process.communicate(timeout=120)
            assert process.returncode == 0, errors
    finally:
        for process in processes:
            process.kill()
    assert not list(marks.iterdir())
    assert time.monotonic() - began < 120
