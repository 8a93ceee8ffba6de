"""Data by callbacks: PopART asks for each micro-batch when it needs it.

    python3 callbacks.py [--steps 4]

An array per tensor and step (PyStepIO) is simple. Callbacks suit data that is
made on the fly: each call hands over one micro-batch of one tensor.
"""
import argparse

import numpy as np
import popart


def build_model():
    """(a + b) * 10, and the ids of a, b and the result."""
    builder = popart.Builder()
    info = popart.TensorInfo("FLOAT", [2])
    a = builder.addInputTensor(info, "a")
    b = builder.addInputTensor(info, "b")
    ten = builder.aiOnnx.constant(np.array([10.0], np.float32))
    result = builder.aiOnnx.mul([builder.aiOnnx.add([a, b]), ten])
    builder.addOutputTensor(result)
    return builder.getModelProto(), a, b, result


class Counter:
    """Counts up for each tensor, and keeps what comes back."""

    def __init__(self):
        self.given = {}
        self.results = []
        self.log = []

    def give(self, name: str, is_prefetch: bool) -> np.ndarray:
        value = self.given.get(name, 0)
        self.given[name] = value + 1
        self.log.append(f"{name} <- {value}")
        return np.full(2, value, np.float32)

    def given_up(self, name: str) -> None:
        self.log.append(f"{name} was copied")

    def take(self, name: str) -> np.ndarray:
        self.results.append(np.empty(2, np.float32))
        return self.results[-1]

    def taken(self, name: str) -> None:
        self.log.append(f"{name} -> {self.results[-1][0]:g}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=4)
    options = parser.parse_args()
    model, a, b, result = build_model()
    session = popart.InferenceSession(
        model, popart.DataFlow(options.steps,
                               {result: popart.AnchorReturnType("All")}),
        popart.DeviceManager().createIpuModelDevice({}))
    session.prepareDevice()
    counter = Counter()
    session.run(popart.PyStepIOCallback(counter.give, counter.given_up,
                                        counter.take, counter.taken))
    print("\n".join(counter.log))
    print("Results:", *(f"{r[0]:g}" for r in counter.results))


if __name__ == "__main__":
    main()
