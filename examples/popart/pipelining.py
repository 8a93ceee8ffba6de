"""A network over two IPUs that work on two batches at once.

    python3 pipelining.py [--no-pipelining]

Each layer is put on an IPU (virtualGraph). With pipelining IPU 0 starts on the
next batch while IPU 1 is busy with this one, and the weights change when all
batches of an update have passed: losses are those of one IPU, cycles are fewer.
"""
import argparse

import numpy as np
import popart
from layers import classifier, digits

BATCH = 8
MICRO_BATCHES = 8
UPDATES = 6


def train(ipus: int, is_pipelined: bool):
    """(losses, first gradient of the first weight, cycles of a step)."""
    builder, images, labels, _, loss, weight = classifier(
        [32, 32], BATCH, place=(lambda i: min(i, ipus - 1)))
    gradient = popart.reservedGradientPrefix() + weight
    options = popart.SessionOptions()
    options.virtualGraphMode = popart.VirtualGraphMode.Manual
    options.enablePipelining = is_pipelined
    options.enableGradientAccumulation = True
    options.accumulationFactor = MICRO_BATCHES
    options.instrumentWithHardwareCycleCounter = True
    device = popart.DeviceManager().createIpuModelDevice(
        {"numIPUs": ipus, "tilesPerIPU": 16})
    session = popart.TrainingSession(
        builder.getModelProto(),
        popart.DataFlow(UPDATES, {loss: popart.AnchorReturnType("All"),
                                  gradient: popart.AnchorReturnType("Final")}),
        loss, popart.ConstSGD(0.002), device, userOptions=options)
    session.prepareDevice()
    session.weightsFromHost()
    anchors = session.initAnchorArrays()
    x, y = digits(BATCH, UPDATES * MICRO_BATCHES)
    session.run(popart.PyStepIO({images: x, labels: y}, anchors))
    losses = anchors[loss].reshape(UPDATES, MICRO_BATCHES).mean(axis=1)
    return losses / BATCH, anchors[gradient], session.getCycleCount()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-pipelining", action="store_true")
    options = parser.parse_args()
    losses, gradient, cycles = train(2, not options.no_pipelining)
    print("Losses:", *(f"{loss:.4f}" for loss in losses))
    print(f"Gradient of the first weight: {np.abs(gradient).sum():.4f}")
    print(f"Cycles: {cycles}")


if __name__ == "__main__":
    main()
