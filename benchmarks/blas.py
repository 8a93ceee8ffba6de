"""Finds the OpenBLAS core type that is fastest here.

Debian's OpenBLAS does not know CPUs newer than itself and then falls back to
slow kernels, which would flatter us: the peer gets the best one by measurement.
"""

import os
import subprocess
import sys

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


def gigaflops(core_type: str | None) -> float:
    """Of a 512 x 512 x 512 product on one thread; 0 if it cannot run here."""
    environment = dict(os.environ, OPENBLAS_NUM_THREADS="1",
                       OMP_NUM_THREADS="1")
    if core_type:
        environment["OPENBLAS_CORETYPE"] = core_type
    done = subprocess.run([sys.executable, "-c", PROBE], env=environment,
                          capture_output=True, text=True)
    return float(done.stdout) if done.returncode == 0 else 0.0


def best_core_type() -> tuple[str | None, float, float]:
    """The core type, its GFLOP/s, and what OpenBLAS's own choice reaches."""
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
