"""The training graphs whose compilation is timed, made with PopART's Builder.

Each function returns (model, anchors and loss, SessionOptions, IPUs); weights are
zeros, as compiling does not look at them.
"""

from dataclasses import dataclass

import numpy as np
import popart


@dataclass
class TrainingGraph:
    model: bytes
    loss: str
    optimizer: object
    options: popart.SessionOptions
    ipus: int
    weight_bytes: int

    def session(self) -> popart.TrainingSession:
        """Its summary prices a step, which need not be run for that."""
        self.options.reportOptions["assumedRuns"] = "1"
        return popart.TrainingSession(
            self.model, popart.DataFlow(1, [self.loss]), self.loss,
            self.optimizer,
            popart.DeviceManager().createIpuModelDevice(
                {"numIPUs": self.ipus, "tilesPerIPU": 1472}),
            userOptions=self.options)


class Layers:
    """A Builder with layers that make their own weights."""

    def __init__(self, dtype=np.float32):
        self.builder = popart.Builder(
            opsets={"ai.onnx": 10, "ai.graphcore": 1})
        self.ops = self.builder.aiOnnx
        self.graphcore = self.builder.aiGraphcore
        self.dtype = dtype
        self.weight_bytes = 0

    def input(self, type: str, *shape: int) -> str:
        return self.builder.addInputTensor(type, list(shape))

    def weight(self, *shape: int) -> str:
        array = np.zeros(shape, self.dtype)
        self.weight_bytes += array.nbytes
        return self.builder.addInitializedInputTensor(array)

    def linear(self, x: str, inputs: int, outputs: int) -> str:
        product = self.ops.matmul([x, self.weight(inputs, outputs)])
        return self.ops.add([product, self.weight(outputs)])

    def conv(self, x: str, inputs: int, outputs: int, size: int,
             stride: int = 1, has_bias: bool = False) -> str:
        operands = [x, self.weight(outputs, inputs, size, size)]
        if has_bias:
            operands.append(self.weight(outputs))
        pad = 0 if has_bias else size // 2
        return self.ops.conv(operands, kernel_shape=[size, size],
                             pads=[pad] * 4, strides=[stride] * 2)

    def reshape(self, x: str, *shape: int) -> str:
        return self.builder.reshape_const(self.ops, [x], shape)

    def graph(self, scores: str, labels: str, optimizer, options,
              ipus: int) -> TrainingGraph:
        loss = self.graphcore.nllloss([self.ops.softmax([scores], 1), labels])
        return TrainingGraph(self.builder.getModelProto(), loss, optimizer,
                             options, ipus, self.weight_bytes)


def pipelined(accumulation: int) -> popart.SessionOptions:
    options = popart.SessionOptions()
    options.virtualGraphMode = popart.VirtualGraphMode.Manual
    options.enablePipelining = True
    options.enableGradientAccumulation = True
    options.accumulationFactor = accumulation
    return options


def momentum() -> popart.SGD:
    return popart.SGD({"defaultLearningRate": (0.01, False),
                       "defaultMomentum": (0.9, True)})


def mnist() -> TrainingGraph:
    """The network of `make run`, over two IPUs."""
    layers = Layers()
    ops, builder = layers.ops, layers.builder

    def convolved(x, inputs, outputs):
        x = layers.conv(x, inputs, outputs, 5, has_bias=True)
        x = ops.maxpool([x], 1, kernel_shape=[2, 2], strides=[2, 2])[0]
        return ops.relu([x])

    images = layers.input("FLOAT", 40, 1, 28, 28)
    labels = layers.input("INT32", 40)
    with builder.virtualGraph(0), builder.pipelineStage(0):
        x = convolved(convolved(images, 1, 10), 10, 20)
    with builder.virtualGraph(1), builder.pipelineStage(1):
        x = ops.relu([layers.linear(ops.flatten([x]), 320, 256)])
        return layers.graph(layers.linear(x, 256, 10), labels, momentum(),
                            pipelined(10), 2)


def resnet50() -> TrainingGraph:
    """Batches of four images of 224 x 224, over four IPUs."""
    layers = Layers()
    ops = layers.ops

    def normed(x, channels):
        statistics = [layers.weight(channels) for _ in range(4)]
        return ops.batchnormalization([x, *statistics], 5)[0]

    def block(x, inputs, width, stride):
        y = ops.relu([normed(layers.conv(x, inputs, width, 1), width)])
        y = ops.relu([normed(layers.conv(y, width, width, 3, stride), width)])
        y = normed(layers.conv(y, width, 4 * width, 1), 4 * width)
        if inputs != 4 * width:
            x = normed(layers.conv(x, inputs, 4 * width, 1, stride), 4 * width)
        return ops.relu([ops.add([x, y])])

    images = layers.input("FLOAT", 4, 3, 224, 224)
    labels = layers.input("INT32", 4)
    x = ops.relu([normed(layers.conv(images, 3, 64, 7, 2), 64)])
    x = ops.maxpool([x], 1, kernel_shape=[3, 3], pads=[1] * 4,
                    strides=[2, 2])[0]
    channels = 64
    for stage, count in enumerate((3, 4, 6, 3)):
        for i in range(count):
            width = 64 << stage
            x = block(x, channels, width, 2 if stage and not i else 1)
            channels = 4 * width
    x = ops.flatten([ops.globalaveragepool([x])])
    options = popart.SessionOptions()
    options.virtualGraphMode = popart.VirtualGraphMode.Auto
    return layers.graph(layers.linear(x, channels, 1000), labels, momentum(),
                        options, 4)


class BertLayers(Layers):
    """Halves; sequences are rows, [batch * length, hidden]."""

    def __init__(self, batch: int, length: int, hidden: int, heads: int):
        super().__init__(np.float16)
        self.batch, self.length = batch, length
        self.hidden, self.heads = hidden, heads

    def norm(self, x: str) -> str:
        return self.graphcore.groupnormalization(
            [x, self.weight(self.hidden), self.weight(self.hidden)], 1)[0]

    def constant(self, number: float) -> str:
        return self.ops.constant(np.array(number, self.dtype))

    def scale(self, x: str, factor: float) -> str:
        return self.ops.mul([x, self.constant(factor)])

    def gelu(self, x: str) -> str:
        """As PyTorch exports it."""
        part = self.ops.erf([self.scale(x, 0.5 ** 0.5)])
        return self.scale(
            self.ops.mul([x, self.ops.add([part, self.constant(1)])]), 0.5)

    def attention(self, x: str) -> str:
        size = self.hidden // self.heads

        def projected(order):
            split = self.reshape(self.linear(x, self.hidden, self.hidden),
                                 self.batch, self.length, self.heads, size)
            return self.ops.transpose([split], order)

        query = projected([0, 2, 1, 3])
        key = projected([0, 2, 3, 1])
        value = projected([0, 2, 1, 3])
        scores = self.scale(self.ops.matmul([query, key]), size ** -0.5)
        found = self.ops.matmul([self.ops.softmax([scores], 3), value])
        rows = self.reshape(self.ops.transpose([found], [0, 2, 1, 3]),
                            self.batch * self.length, self.hidden)
        return self.linear(rows, self.hidden, self.hidden)

    def layer(self, x: str) -> str:
        x = self.norm(self.ops.add([x, self.attention(x)]))
        wide = self.gelu(self.linear(x, self.hidden, 4 * self.hidden))
        return self.norm(self.ops.add(
            [x, self.linear(wide, 4 * self.hidden, self.hidden)]))


def bert_large(layer_count: int = 24, ipus: int = 16) -> TrainingGraph:
    """Words on the first IPU, their scores on the last, layers between."""
    batch, length, words = 2, 128, 30528
    layers = BertLayers(batch, length, 1024, 16)
    ops, builder = layers.ops, layers.builder
    tokens = layers.input("INT32", batch * length)
    labels = layers.input("INT32", batch * length)
    with builder.virtualGraph(0), builder.pipelineStage(0):
        x = ops.gather([layers.weight(words, 1024), tokens])
        places = layers.reshape(layers.weight(length, 1024), 1, length, 1024)
        x = ops.add([layers.reshape(x, batch, length, 1024), places])
        x = layers.norm(layers.reshape(x, batch * length, 1024))
    for i in range(layer_count):
        ipu = 1 + i * (ipus - 2) // layer_count
        with builder.virtualGraph(ipu), builder.pipelineStage(ipu):
            x = layers.layer(x)
    last = ipus - 1
    with builder.virtualGraph(last), builder.pipelineStage(last):
        scores = ops.matmul([x, layers.weight(1024, words)])
        options = pipelined(4 * ipus)
        options.autoRecomputation = popart.RecomputationType.Pipeline
        return layers.graph(scores, labels, momentum(), options, ipus)


GRAPHS = {"mnist": mnist, "resnet50": resnet50, "bert-large": bert_large}
