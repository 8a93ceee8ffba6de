"""The small classifier that several of these programs share, and its data."""
import numpy as np
import popart
from sklearn.datasets import load_digits

CLASSES = 10
PIXELS = 64


def digits(batch: int, batches: int):
    """(images, labels) of `batches` batches; they start again if need be."""
    data = load_digits()
    count = batch * batches
    pick = np.arange(count) % len(data.data)
    images = (data.data[pick] / 16.0).astype(np.float32)
    labels = data.target[pick].astype(np.int32)
    return (images.reshape(batches, batch, PIXELS),
            labels.reshape(batches, batch))


def classifier(widths, batch: int, place=None, seed: int = 1):
    """Fully connected layers of these widths, ten classes and a loss.

    `place(layer)`, if given, is the IPU of a layer. Returns the builder and
    the ids of images, labels, probabilities, loss and the first weight.
    """
    random = np.random.default_rng(seed)
    builder = popart.Builder()
    ops = builder.aiOnnx
    images = builder.addInputTensor(
        popart.TensorInfo("FLOAT", [batch, PIXELS]), "images")
    labels = builder.addInputTensor(popart.TensorInfo("INT32", [batch]),
                                    "labels")
    x, rows, first = images, PIXELS, None
    layers = [*widths, CLASSES]
    last = len(layers) - 1
    for i, columns in enumerate(layers):
        with builder.nameScope(f"layer{i}"):
            w = builder.addInitializedInputTensor(
                random.normal(0, np.sqrt(2.0 / rows), (rows, columns)).astype(
                    np.float32), "w")
            b = builder.addInitializedInputTensor(
                np.zeros(columns, np.float32), "b")
            x = ops.gemm([x, w, b])
            nodes = [x]
            if i < last:
                x = ops.relu([x])
                nodes.append(x)
        if place:
            for node in nodes:
                builder.virtualGraph(node, place(i))
        first = first or w
        rows = columns
    probabilities = ops.softmax([x])
    loss = builder.aiGraphcore.nllloss([probabilities, labels],
                                       popart.ReductionType.Sum)
    if place:
        builder.virtualGraph(probabilities, place(last))
        builder.virtualGraph(loss, place(last))
    builder.addOutputTensor(probabilities)
    return builder, images, labels, probabilities, loss, first
