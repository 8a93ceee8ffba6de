"""A convolutional network on handwritten digits, trained and tested by turns.

    python3 digits_conv.py [--epochs 3] [--ipus 1] [--replicas 1] [--pipeline]
                           [--synthetic] [--model digits_conv.onnx]

After each epoch the weights go from the training session to a file and from
there to a second session that tests them: two programs, one set of weights.
"""
import argparse

import numpy as np
import popart
from sklearn.datasets import load_digits

MICRO_BATCH = 8
ACCUMULATION = 4
CLASSES = 10


def build_model():
    random = np.random.default_rng(7)

    def weight(name, fan_in, *shape):
        values = random.normal(0, np.sqrt(2.0 / fan_in), shape)
        return builder.addInitializedInputTensor(values.astype(np.float32),
                                                 name)

    builder = popart.Builder()
    ops = builder.aiOnnx
    image = builder.addInputTensor(
        popart.TensorInfo("FLOAT", [MICRO_BATCH, 1, 8, 8]), "image")
    label = builder.addInputTensor(popart.TensorInfo("INT32", [MICRO_BATCH]),
                                   "label")
    x = ops.conv([image, weight("w1", 9, 16, 1, 3, 3)], pads=[1, 1, 1, 1])
    x = ops.maxpool([ops.relu([x])], 1, [2, 2], strides=[2, 2])[0]
    x = ops.conv([x, weight("w2", 144, 32, 16, 3, 3)], pads=[1, 1, 1, 1])
    x = ops.relu([x])
    shape = ops.constant(np.array([MICRO_BATCH, 512], np.int64))
    x = ops.matmul([ops.reshape([x, shape]), weight("w3", 512, 512, CLASSES)])
    x = ops.add([x, builder.addInitializedInputTensor(
        np.zeros(CLASSES, np.float32), "b")])
    probabilities = ops.softmax([x])
    loss = builder.aiGraphcore.nllloss([probabilities, label],
                                       popart.ReductionType.Mean)
    builder.addOutputTensor(probabilities)
    return builder.getModelProto(), image, label, probabilities, loss


def session_options(arguments) -> popart.SessionOptions:
    options = popart.SessionOptions()
    if arguments.replicas > 1:
        options.enableReplicatedGraphs = True
        options.replicatedGraphCount = arguments.replicas
    if arguments.ipus > 1:
        options.virtualGraphMode = popart.VirtualGraphMode.Auto
    options.enablePipelining = arguments.pipeline
    if arguments.synthetic:
        options.syntheticDataMode = popart.SyntheticDataMode.RandomNormal
    options.instrumentWithHardwareCycleCounter = True
    return options


def training_session(model, loss, arguments, steps):
    options = session_options(arguments)
    options.enableGradientAccumulation = True
    options.accumulationFactor = ACCUMULATION
    options.accumulationAndReplicationReductionType = (
        popart.ReductionType.Mean)
    session = popart.TrainingSession(
        model, popart.DataFlow(steps, {loss: popart.AnchorReturnType("Sum")}),
        loss, popart.SGD({"defaultLearningRate": (0.1, False),
                          "defaultMomentum": (0.9, True)}),
        device(arguments), userOptions=options)
    session.prepareDevice()
    session.setRandomSeed(1984)
    session.weightsFromHost()
    return session


def test_session(model, probabilities, arguments, steps):
    options = session_options(arguments)
    options.constantWeights = False  # they change after every epoch
    session = popart.InferenceSession(
        model,
        popart.DataFlow(steps, {probabilities: popart.AnchorReturnType("All")}),
        device(arguments), userOptions=options)
    session.prepareDevice()
    return session


def device(arguments):
    count = arguments.ipus * arguments.replicas
    found = popart.DeviceManager().tryAcquireAvailableDevice(count)
    return found or popart.DeviceManager().createIpuModelDevice(
        {"numIPUs": count, "tilesPerIPU": 1472})


def cut(data, labels, samples_per_step):
    """Whole steps only."""
    used = len(data) // samples_per_step * samples_per_step
    return (used // samples_per_step, data[:used].reshape(-1, 1, 8, 8),
            labels[:used])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--ipus", type=int, default=1)
    parser.add_argument("--replicas", type=int, default=1)
    parser.add_argument("--pipeline", action="store_true")
    parser.add_argument("--synthetic", action="store_true")
    parser.add_argument("--model", default="digits_conv.onnx")
    arguments = parser.parse_args()
    popart.getLogger().setLevel("WARN")

    digits = load_digits()
    data = (digits.data / 16.0).astype(np.float32)
    labels = digits.target.astype(np.int32)
    per_run = MICRO_BATCH * arguments.replicas
    steps, x, y = cut(data[:1437], labels[:1437], per_run * ACCUMULATION)
    tests, test_x, test_y = cut(data[1437:], labels[1437:], per_run)

    model, image, label, probabilities, loss = build_model()
    training = training_session(model, loss, arguments, steps)
    testing = test_session(model, probabilities, arguments, tests)
    losses = training.initAnchorArrays()
    results = testing.initAnchorArrays()
    for epoch in range(arguments.epochs):
        training.run(popart.PyStepIO({image: x, label: y}, losses))
        training.modelToHost(arguments.model)
        testing.resetHostWeights(arguments.model,
                                 ignoreWeightsInModelWithoutCorrespondingHostWeight=True)
        testing.weightsFromHost()
        testing.run(popart.PyStepIO({image: test_x, label: test_y}, results))
        found = results[probabilities].reshape(-1, CLASSES).argmax(axis=1)
        mean = losses[loss].sum() / (steps * ACCUMULATION *
                                     arguments.replicas)
        print(f"epoch {epoch}: loss {mean:.4f}, accuracy "
              f"{100 * (found == test_y).mean():.2f} %")
    print(f"Cycles of an epoch: {training.getCycleCount()}")


if __name__ == "__main__":
    main()
