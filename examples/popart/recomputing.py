"""Memory for time: activations that the backward pass computes again.

    python3 recomputing.py [--mode none|auto|manual] [--log]

The forward pass of a deep network leaves an activation per layer for the
gradients. Recomputation keeps a few of them and computes the others again.
"""
import argparse
import re

import popart
from layers import classifier, digits

BATCH = 256
BATCHES = 4
WIDTHS = [64] * 12


def train(mode: str):
    """(losses, bytes of the device's variables)."""
    builder, images, labels, _, loss, _ = classifier(WIDTHS, BATCH)
    options = popart.SessionOptions()
    if mode == "auto":
        options.autoRecomputation = popart.RecomputationType.Standard
    elif mode == "manual":
        # All but every fourth.
        for layer in range(len(WIDTHS)):
            if layer % 4 != 3:
                for node in ("Gemm", "Relu"):
                    builder.recomputeOutputInBackwardPass(
                        f"layer{layer}/{node}:0")
    session = popart.TrainingSession(
        builder.getModelProto(),
        popart.DataFlow(BATCHES, {loss: popart.AnchorReturnType("All")}),
        loss, popart.ConstSGD(0.0001),
        popart.DeviceManager().createIpuModelDevice({"tilesPerIPU": 4}),
        userOptions=options)
    session.prepareDevice()
    session.weightsFromHost()
    anchors = session.initAnchorArrays()
    x, y = digits(BATCH, BATCHES)
    session.run(popart.PyStepIO({images: x, labels: y}, anchors))
    # What the model counts: variables of all kinds, at the fullest moment.
    used = re.search(r"Variables: +([\d,]+) B", session.getSummaryReport())[1]
    return anchors[loss] / BATCH, int(used.replace(",", ""))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=("none", "auto", "manual"),
                        default="auto")
    parser.add_argument("--log", action="store_true",
                        help="show what PopART does")
    options = parser.parse_args()
    popart.getLogger().setLevel("DEBUG" if options.log else "OFF")
    losses, used = train(options.mode)
    print("Losses:", *(f"{loss:.4f}" for loss in losses))
    print(f"Bytes of variables: {used}")


if __name__ == "__main__":
    main()
