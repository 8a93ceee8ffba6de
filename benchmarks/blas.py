"""Lets PyTorch have the OpenBLAS that is fastest here.

Debian's OpenBLAS does not know CPUs newer than itself and then falls back to
slow kernels, which would flatter us: the peer gets the best one by measurement.
So would the threads of its usual build, which compete for cores with those that
PyTorch's other operations spin on: the build for OpenMP shares them, and makes
two threads up to five times as fast.
"""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

OPENMP = Path("/usr/lib", sysconfig.get_config_var("MULTIARCH") or "",
              "openblas-openmp")
CORE_TYPES = (None, "Haswell", "Zen", "SkylakeX", "Cooperlake")

PROBE = """
import time, torch
torch.set_num_threads(1)
a = torch.randn(512, 512); b = torch.randn(512, 512)
torch.mm(a, b)
best = 1e9
for _ in range(20):
    start = time.perf_counter(); torch.mm(a, b)
    best = min(best, time.perf_counter() - start)
print(2 * 512**3 / best * 1e-9)
"""


def environment(threads: int, core_type: str | None, *,
                openmp: bool = True) -> dict[str, str]:
    """Variables that give a process of PyTorch its BLAS and threads."""
    variables = {"OMP_NUM_THREADS": str(threads),
                 "OPENBLAS_NUM_THREADS": str(threads)}
    if core_type:
        variables["OPENBLAS_CORETYPE"] = core_type
    if openmp:
        own = os.environ.get("LD_LIBRARY_PATH")
        variables["LD_LIBRARY_PATH"] = ":".join(
            [str(OPENMP)] + ([own] if own else []))
    return variables


def gigaflops(core_type: str | None) -> float:
    """Of a 512 x 512 x 512 product on one thread; 0 if it cannot run here."""
    done = subprocess.run([sys.executable, "-c", PROBE],
                          env={**os.environ, **environment(1, core_type)},
                          capture_output=True, text=True)
    return float(done.stdout) if done.returncode == 0 else 0.0


def best_core_type() -> tuple[str | None, float, float]:
    """The core type, its GFLOP/s, and what OpenBLAS's own choice reaches."""
    if not OPENMP.is_dir():
        sys.exit(f"{OPENMP} is not there, and without it PyTorch's threads are "
                 f"no fair peer: install libopenblas0-openmp or use "
                 f"`make bench`")
    if chosen := os.environ.get("OPENBLAS_CORETYPE"):
        speed = gigaflops(chosen)
        return chosen, speed, speed
    speeds = {c: gigaflops(c) for c in CORE_TYPES}
    best = max(speeds, key=speeds.get)
    # Its own choice stays unless another is clearly faster.
    if speeds[best] < 1.05 * speeds[None]:
        best = None
    return best, speeds[best], speeds[None]


if __name__ == "__main__":
    for core in CORE_TYPES:
        print(f"{core or 'own choice':<12} {gigaflops(core):7.1f} GFLOP/s")
