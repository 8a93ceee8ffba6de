"""A process that trains one network in one way, at the harness's command.

Reads one JSON object per line, answers with one:
    {"losses": n}     the losses of the first n updates that can be seen
    {"seconds": s}    trains for about s seconds: seconds per update, one figure
                      per chunk of updates
"""

import json
import sys
import time

BATCHES = 200  # distinct ones, so that a step does not find its data in cache


def make_runner(settings: dict):
    import torch
    from networks import NETWORKS
    from runners import AspenRunner, PyTorchRunner

    torch.set_num_threads(settings.pop("threads", torch.get_num_threads()))
    network = NETWORKS[settings.pop("network")]
    runner = {"pytorch": PyTorchRunner, "aspen": AspenRunner}[
        settings.pop("runner")]
    return runner(network, *network.batches(BATCHES), **settings)


def losses(runner, count: int, chunk: int) -> list[float]:
    return [runner.run(chunk) for _ in range(count // chunk)]


def timings(runner, seconds: float, chunk: int) -> list[float]:
    figures = []
    end = time.perf_counter() + seconds
    while not figures or time.perf_counter() < end:
        start = time.perf_counter()
        runner.run(chunk)
        figures.append((time.perf_counter() - start) / chunk)
    return figures


def main():
    settings = json.loads(sys.argv[1])
    chunk = settings.pop("chunk")
    runner = make_runner(settings)
    for line in sys.stdin:
        command = json.loads(line)
        if "losses" in command:
            answer = losses(runner, command["losses"], chunk)
        else:
            answer = timings(runner, command["seconds"], chunk)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
