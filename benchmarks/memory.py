"""What a process holds: tensors of PyTorch, the engine's memory, pages."""

import re
from pathlib import Path

import torch

ENGINE = re.compile(r"engine memory: (\d+) B of arena, (\d+) B of workspaces, "
                    r"(\d+) B of variables")


def resident_bytes() -> int:
    """The most that this process ever had in memory."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024


def engine_bytes(log: Path) -> dict:
    """Of the largest engine that the log tells of. Workspaces are what its
    kernels work in; libraries' own are in no tensor of PyTorch either."""
    found = [dict(arena=int(a), workspaces=int(w), persistent=int(v))
             for a, w, v in ENGINE.findall(log.read_text())]
    return max(found, key=lambda e: sum(e.values()))


def peak_tensor_bytes(runner) -> int:
    """Of a PyTorch runner: what stays, and the most that a step adds."""
    for _ in range(2):
        runner.step()
    with torch.profiler.profile(profile_memory=True) as profile:
        runner.step()
    events = [(e.start_us(), e.nbytes())
              for e in profile.profiler.kineto_results.events()
              if e.name() == "[memory]"]
    held = peak = 0
    for _, change in sorted(events, key=lambda e: e[0]):
        held += change
        peak = max(peak, held)
    return peak + sum(t.numel() * t.element_size()
                      for t in runner.persistent())
