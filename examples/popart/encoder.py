"""A transformer's encoder as large models are written: scopes, stages, Lamb.

    python3 encoder.py [--steps 4] [--folder .] [--offline]

One layer per pipeline stage, each in its name scope; large products in parts;
weights in a file of their own; an optimiser with other values for biases and a
learning rate that the host changes. --offline compiles for IPUs that are not
there and writes the program to a file.
"""
import argparse
from pathlib import Path

import numpy as np
import popart

BATCH, LENGTH, WIDTH, HEADS, WORDS = 2, 8, 16, 2, 32
LAYERS = 2
ACCUMULATION = 4


class Encoder:
    def __init__(self):
        self.random = np.random.default_rng(11)
        self.builder = popart.Builder(opsets={"ai.onnx": 9,
                                              "ai.onnx.ml": 1,
                                              "ai.graphcore": 1})
        self.ops = self.builder.aiOnnxOpset9
        self.biases = []

    def weight(self, name, *shape):
        values = self.random.normal(0, 0.1, shape).astype(np.float32)
        return self.builder.addInitializedInputTensor(values, name)

    def dense(self, x, rows, columns):
        w = self.weight("W", rows, columns)
        b = self.builder.addInitializedInputTensor(
            np.zeros(columns, np.float32), "B")
        self.biases.append(b)
        y = self.ops.matmul([x, w])
        self.builder.setAvailableMemoryProportion(y, 0.4)
        y = self.ops.add([y, b])
        self.builder.setInplacePreferences(y, {"AddLhsInplace": 2000.0})
        return y

    def norm(self, x):
        ones = self.builder.addInitializedInputTensor(
            np.ones(WIDTH, np.float32), "Gamma")
        zeros = self.builder.addInitializedInputTensor(
            np.zeros(WIDTH, np.float32), "Beta")
        self.biases += [ones, zeros]
        flat = self.builder.reshape_const(self.ops, [x],
                                          [BATCH * LENGTH, WIDTH])
        y = self.builder.aiGraphcore.groupnormalization(
            [flat, ones, zeros], 1, 1e-6)[0]
        return self.builder.reshape_const(self.ops, [y],
                                          [BATCH, LENGTH, WIDTH])

    def heads(self, x, perm):
        x = self.builder.reshape_const(
            self.ops, [x], [BATCH, LENGTH, HEADS, WIDTH // HEADS])
        return self.ops.transpose([x], perm=perm)

    def attention(self, x):
        with self.builder.nameScope("Attention"):
            qkv = self.dense(x, WIDTH, 3 * WIDTH)
            q, k, v = self.ops.split([qkv], 3, axis=2, split=[WIDTH] * 3)
            scores = self.ops.matmul([self.heads(q, [0, 2, 1, 3]),
                                      self.heads(k, [0, 2, 3, 1])])
            scale = self.ops.constant(
                np.array(1 / np.sqrt(WIDTH // HEADS), np.float32))
            scores = self.ops.softmax([self.ops.mul([scores, scale])], axis=3)
            z = self.ops.matmul([scores, self.heads(v, [0, 2, 1, 3])])
            z = self.ops.transpose([z], perm=[0, 2, 1, 3])
            z = self.builder.reshape_const(self.ops, [z],
                                           [BATCH, LENGTH, WIDTH])
            z = self.dense(z, WIDTH, WIDTH)
            return self.norm(self.ops.add([x, z]))

    def gelu(self, x):
        def constant(value):
            return self.ops.constant(np.array(value, np.float32))

        error = self.ops.erf([self.ops.mul([x, constant(np.sqrt(0.5))])])
        half = self.ops.mul([x, constant(0.5)])
        return self.ops.mul([half, self.ops.add([error, constant(1.0)])])

    def feed_forward(self, x):
        with self.builder.nameScope("FF"):
            hidden = self.gelu(self.dense(x, WIDTH, 4 * WIDTH))
            return self.norm(self.ops.add(
                [x, self.dense(hidden, 4 * WIDTH, WIDTH)]))

    def build(self):
        """The ids of words, labels and loss."""
        builder, ops = self.builder, self.ops
        words = builder.addInputTensor(
            popart.TensorInfo("UINT32", [BATCH, LENGTH]), "words")
        labels = builder.addInputTensor(
            popart.TensorInfo("INT32", [BATCH, LENGTH]), "labels")
        with builder.nameScope("Embedding"), builder.virtualGraph(0), \
                builder.pipelineStage(0):
            table = self.weight("Table", WORDS, WIDTH)
            x = self.norm(ops.gather([table, words]))
        for layer in range(LAYERS):
            with builder.nameScope(f"Layer{layer}"), \
                    builder.virtualGraph(layer), builder.pipelineStage(layer):
                x = self.attention(x)
                (x,) = builder.checkpointOutput([x])
                x = self.feed_forward(x)
        last = builder.getPipelineStage(x)
        with builder.nameScope("Head"), \
                builder.virtualGraph(builder.getVirtualGraph(x)), \
                builder.pipelineStage(last):
            logits = ops.matmul([x, self.weight("Out", WIDTH, WORDS)])
            builder.setSerializeMatMul({logits}, "output_channels", 4, True)
            loss = builder.aiGraphcore.nllloss(
                [ops.softmax([logits], axis=2), labels],
                popart.ReductionType.Mean)
        builder.addOutputTensor(loss)
        return words, labels, loss


def session_options() -> popart.SessionOptions:
    options = popart.SessionOptions()
    options.virtualGraphMode = popart.VirtualGraphMode.Manual
    options.enablePipelining = True
    options.autoRecomputation = popart.RecomputationType.Pipeline
    options.enableGradientAccumulation = True
    options.accumulationFactor = ACCUMULATION
    options.accumulationAndReplicationReductionType = (
        popart.ReductionType.Mean)
    options.meanAccumulationAndReplicationReductionStrategy = (
        popart.MeanReductionStrategy.Post)
    options.accumulateOuterFragmentSettings = (
        popart.AccumulateOuterFragmentSettings(
            popart.AccumulateOuterFragmentSchedule.OverlapMemoryOptimized))
    options.subgraphCopyingStrategy = popart.SubgraphCopyingStrategy.JustInTime
    options.disableGradAccumulationTensorStreams = True
    options.groupHostSync = True
    options.defaultBufferingDepth = 3
    options.partialsTypeMatMuls = "half"
    options.engineOptions["opt.useAutoloader"] = "true"
    return options


def optimizer(rate: float, biases) -> popart.Adam:
    result = popart.Adam({"defaultLearningRate": (rate, False),
                          "defaultWeightDecay": (0.01, True),
                          "defaultBeta1": (0.9, True),
                          "defaultBeta2": (0.999, True),
                          "defaultEps": (1e-6, True),
                          "lossScaling": (8.0, True)},
                         mode=popart.AdamMode.LambNoBias)
    for bias in biases:
        result.insertSpecific(bias, {"weightDecay": (0.0, True),
                                     "maxWeightNorm": (0.0, True)})
    return result


def batches(count: int):
    """Each word's label is the next word of a cycle."""
    words = np.random.default_rng(5).integers(
        0, WORDS, (count, BATCH, LENGTH), dtype=np.uint32)
    return words, ((words + 1) % WORDS).astype(np.int32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--folder", default=".")
    parser.add_argument("--offline", action="store_true")
    arguments = parser.parse_args()
    folder = Path(arguments.folder)
    encoder = Encoder()
    words, labels, loss = encoder.build()
    # Inputs are listed with the weights; initialisers are the weights.
    builder = encoder.builder
    weights = [name for name in builder.getInputTensorIds()
               if builder.isInitializer(name)]
    builder.saveInitializersExternally(weights, str(folder / "weights.bin"))
    builder.saveModelProto(str(folder / "encoder.onnx"))

    manager = popart.DeviceManager()
    device = (manager.createOfflineIPUDevice({"numIPUs": LAYERS})
              if arguments.offline else
              manager.acquireAvailableDevice(LAYERS))
    patterns = popart.Patterns()
    patterns.enablePattern("TiedGather", False)
    updates = 8
    session = popart.TrainingSession(
        builder.getModelProto(),
        popart.DataFlow(updates, {loss: popart.AnchorReturnType("All")}),
        loss, optimizer(0.02, encoder.biases), device, patterns=patterns,
        userOptions=session_options())
    if arguments.offline:
        file = folder / "encoder.popef"
        session.compileAndExport(str(file))
        print(f"Compiled {file.name}: {file.stat().st_size > 0}")
        return
    session.prepareDevice()
    session.weightsFromHost()
    anchors = session.initAnchorArrays()
    x, y = batches(updates * ACCUMULATION)
    for step in range(arguments.steps):
        session.updateOptimizerFromHost(
            optimizer(0.02 * 0.8 ** step, encoder.biases))
        session.run(popart.PyStepIO({words: x, labels: y}, anchors))
        print(f"step {step}: loss {anchors[loss].mean():.4f}")


if __name__ == "__main__":
    main()
