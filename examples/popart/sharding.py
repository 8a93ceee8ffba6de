"""A network that is spread over several IPUs, timed without any host data.

    python3 sharding.py [--ipus 2] [--batches 10]

Layers that do not fit one IPU are put on several (virtualGraph); a batch passes
them one after another. Synthetic data leaves the host out of the measurement,
and the hardware's cycle counter, here the model's estimate, takes the time.
"""
import argparse

import popart
from layers import classifier

BATCH = 16


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ipus", type=int, default=2)
    parser.add_argument("--batches", type=int, default=10)
    arguments = parser.parse_args()
    layers = 2 * arguments.ipus
    builder, _, _, probabilities, loss, _ = classifier(
        [128] * (layers - 1), BATCH, place=(lambda i: i // 2))

    options = popart.SessionOptions()
    options.virtualGraphMode = popart.VirtualGraphMode.Manual
    options.syntheticDataMode = popart.SyntheticDataMode.Zeros
    options.instrumentWithHardwareCycleCounter = True
    options.convolutionOptions = {"availableMemoryProportion": "0.2"}
    options.lstmOptions = {"inferenceOnly": "true"}

    manager = popart.DeviceManager()
    manager.setOnDemandAttachTimeout(10)
    device = manager.acquireAvailableDevice(
        arguments.ipus, connectionType=popart.DeviceConnectionType.OnDemand)
    session = popart.InferenceSession(
        builder.getModelProto(),
        popart.DataFlow(arguments.batches,
                        {probabilities: popart.AnchorReturnType("Final"),
                         loss: popart.AnchorReturnType("Sum")}),
        device, userOptions=options)
    session.prepareDevice()
    session.run(popart.PyStepIO({}, {}))
    cycles = session.getCycleCount() / arguments.batches
    print(f"{arguments.ipus} IPUs: {cycles:.0f} cycles per batch")


if __name__ == "__main__":
    main()
