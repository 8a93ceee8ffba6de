"""Handwritten digits with PopART's Builder: train, save as ONNX, read back.

    python3 digits.py [--epochs 10] [--model trained.onnx]

The network is two fully connected layers on scikit-learn's 1,797 images of 8 x 8
pixels. It is built node by node, trained in a TrainingSession, saved by
modelToHost and, as any ONNX file would be, imported into an InferenceSession.
"""
import argparse

import numpy as np
import popart
from sklearn.datasets import load_digits

BATCH = 16
CLASSES = 10


def build_model(hidden: int = 64):
    """The model's bytes and the ids of its images, labels, result and loss."""
    random = np.random.default_rng(1)

    def weight(*shape):
        scale = np.sqrt(2.0 / shape[0])
        return random.normal(0, scale, shape).astype(np.float32)

    builder = popart.Builder()
    ops = builder.aiOnnx
    images = builder.addInputTensor("FLOAT", [BATCH, 64], "images")
    labels = builder.addInputTensor("INT32", [BATCH], "labels")
    x = images
    for name, rows, columns in (("hidden", 64, hidden),
                                ("classifier", hidden, CLASSES)):
        with builder.nameScope(name):
            w = builder.addInitializedInputTensor(weight(rows, columns), "w")
            b = builder.addInitializedInputTensor(
                np.zeros(columns, np.float32), "b")
            x = ops.add([ops.matmul([x, w]), b])
            if name == "hidden":
                x = ops.relu([x])
    probabilities = ops.softmax([x])
    loss = builder.aiGraphcore.nllloss([probabilities, labels])
    builder.addOutputTensor(probabilities)
    return builder.getModelProto(), images, labels, probabilities, loss


def batches(images: np.ndarray, labels: np.ndarray):
    """(steps, images) and labels, without what does not fill a batch."""
    steps = len(images) // BATCH
    used = steps * BATCH
    return (steps, images[:used].reshape(steps, BATCH, 64),
            labels[:used].reshape(steps, BATCH))


def train(model, ids, data, epochs: int, file: str) -> None:
    images, labels, _, loss = ids
    steps, x, y = batches(*data)
    session = popart.TrainingSession(
        model, popart.DataFlow(steps, {loss: popart.AnchorReturnType("All")}),
        loss, popart.SGD({"defaultLearningRate": (0.03, True),
                          "defaultMomentum": (0.9, True)}),
        popart.DeviceManager().acquireAvailableDevice(1))
    session.prepareDevice()
    session.weightsFromHost()
    anchors = session.initAnchorArrays()
    for epoch in range(epochs):
        session.run(popart.PyStepIO({images: x, labels: y}, anchors))
        print(f"epoch {epoch}: loss {anchors[loss].mean():.4f}")
    session.modelToHost(file)


def accuracy(file: str, ids, data) -> float:
    images, labels, probabilities, _ = ids
    steps, x, y = batches(*data)
    session = popart.InferenceSession(
        file, popart.DataFlow(steps, [probabilities]),
        popart.DeviceManager().createIpuModelDevice({"tilesPerIPU": 16}))
    session.prepareDevice()
    anchors = session.initAnchorArrays()
    session.run(popart.PyStepIO({images: x, labels: y}, anchors))
    found = anchors[probabilities].reshape(-1, CLASSES).argmax(axis=1)
    return 100.0 * float((found == y.reshape(-1)).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--model", default="trained.onnx")
    options = parser.parse_args()
    digits = load_digits()
    x = (digits.data / 16.0).astype(np.float32)
    y = digits.target.astype(np.int32)
    model, *ids = build_model()
    train(model, ids, (x[:1437], y[:1437]), options.epochs, options.model)
    result = accuracy(options.model, ids, (x[1437:], y[1437:]))
    print(f"Accuracy on the test set: {result:.2f} %")


if __name__ == "__main__":
    main()
