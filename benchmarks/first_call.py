"""Times what users wait for before a PopTorch program's first result.

The network is the course's CNN, with its optimiser. "import" is what `import
poptorch` takes after `import torch`; "first call" traces, compiles and runs one
step; "from the cache" does so in a process that finds the executable of
another. Each figure is the best of several processes, as somebody else may use
the machine.

    scripts/with-sdk.sh python3 benchmarks/first_call.py
"""

import json
import os
import subprocess
import sys
import tempfile
import time

LIMITS = {"import": 0.3, "first call": 1.5, "from the cache": 0.7}  # seconds
HEAD = ["PopTorch", "figure", "seconds", "limit", "verdict"]
PROCESSES = 5


def first_call() -> dict:
    """In this process, which has imported neither package yet."""
    import torch

    start = time.perf_counter()
    import poptorch

    imported = time.perf_counter()
    from networks import NETWORKS, WithLoss

    network = NETWORKS["fashion-cnn"]
    model = WithLoss(network.make_layers(has_dropout=True))
    optimizer = getattr(poptorch.optim, network.optimizer)(
        model.parameters(), **network.hyperparameters)
    images, labels = (batches[0] for batches in network.batches(network.batch))
    called = time.perf_counter()
    trainer = poptorch.trainingModel(model, poptorch.Options(), optimizer)
    _, loss = trainer(images, labels)
    returned = time.perf_counter()
    assert torch.isfinite(loss)
    return dict(importing=imported - start, calling=returned - called)


def in_new_process(cache: str = "") -> dict:
    answer = subprocess.run(
        [sys.executable, __file__, "--measure"], check=True, text=True,
        capture_output=True, env={**os.environ, "POPTORCH_CACHE_DIR": cache})
    return json.loads(answer.stdout.splitlines()[-1])


def run(processes: int = PROCESSES) -> dict:
    plain = [in_new_process() for _ in range(processes)]
    with tempfile.TemporaryDirectory() as cache:
        in_new_process(cache)  # leaves the executable for the others
        assert os.listdir(cache), "nothing was put into the cache"
        cached = [in_new_process(cache) for _ in range(processes)]
    return {
        "import": min(p["importing"] for p in plain + cached),
        "first call": min(p["calling"] for p in plain),
        "from the cache": min(p["calling"] for p in cached),
    }


def rows(results: dict) -> list[list[str]]:
    return [["course's CNN", figure, f"{seconds:.3f}",
             f"< {LIMITS[figure]:g}",
             "ok" if seconds < LIMITS[figure] else "MISSED"]
            for figure, seconds in results.items()]


def main():
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(first_call()))
        return
    from tables import table

    print(table(HEAD, rows(run())))


if __name__ == "__main__":
    main()
