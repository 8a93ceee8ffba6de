"""A process that runs one network in one way, at the harness's command.

Reads one JSON object per line, answers with one:
    {"check": n}      runs n steps: a list of figures after each chunk
    {"seconds": s}    runs for about s seconds: seconds per step, one figure per
                      chunk of steps
    {"digest": n}     runs n steps: a hash of everything they have changed
    {"facts": true}   bytes that it holds, seconds of its compilation
"""

import hashlib
import json
import sys
import time


def make_runner(settings: dict):
    import torch
    from networks import NETWORKS

    torch.set_num_threads(settings.pop("torch_threads",
                                       torch.get_num_threads()))
    network = NETWORKS[settings.pop("network")]
    side = settings.pop("side")
    inputs, labels = network.batches(settings.pop("batch"))
    is_training = settings.pop("is_training")
    if side == "JAX":
        from jax_side import JaxTraining

        return JaxTraining(network, inputs, labels, **settings)
    if is_training:
        from training import AspenTraining, PyTorchTraining

        runner = {"PyTorch": PyTorchTraining, "Aspen": AspenTraining}[side]
        return runner(network, inputs, labels, **settings)
    from inference import AspenInference, OnnxInference, PyTorchInference

    runner = {"PyTorch": PyTorchInference, "Aspen": AspenInference,
              "ONNX Runtime": OnnxInference}[side]
    return runner(network, inputs, **settings)


class Worker:
    def __init__(self, settings: dict):
        self.chunk = settings.pop("chunk")
        self.clock = getattr(time, settings.pop("clock"))
        self.runner = make_runner(settings)

    def check(self, count: int) -> list[list[float]]:
        return [self.runner.run(self.chunk)
                for _ in range(count // self.chunk)]

    def seconds(self, seconds: float) -> list[float]:
        figures = []
        end = time.perf_counter() + seconds
        while not figures or time.perf_counter() < end:
            start = self.clock()
            self.runner.run(self.chunk)
            figures.append((self.clock() - start) / self.chunk)
        return figures

    def digest(self, count: int) -> str:
        result = hashlib.sha256()
        for tensor in self.runner.state_after(count):
            result.update(tensor.contiguous().numpy().tobytes())
        return result.hexdigest()

    def facts(self, _) -> dict:
        import memory

        figures = dict(resident=memory.resident_bytes())
        if hasattr(self.runner, "compile_seconds"):
            figures["compileSeconds"] = self.runner.compile_seconds
        if hasattr(self.runner, "persistent"):
            figures["tensors"] = memory.peak_tensor_bytes(self.runner)
        return figures


def main():
    worker = Worker(json.loads(sys.argv[1]))
    for line in sys.stdin:
        (command, argument), = json.loads(line).items()
        print(json.dumps(getattr(worker, command)(argument)), flush=True)


if __name__ == "__main__":
    main()
