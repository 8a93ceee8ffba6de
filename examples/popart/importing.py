"""ONNX files from elsewhere: run them, train them, in half precision too.

    python3 importing.py [--folder .]

Writes a small convolutional network with ONNX's own package, with a batch size
that the file leaves open, and imports it three times: as it is, with its
weights as halves, and for training with a loss added by the Builder.
"""
import argparse
from pathlib import Path

import numpy as np
import onnx
import popart
from onnx import TensorProto, helper, numpy_helper

BATCH = 4


def write_model(file: str) -> None:
    random = np.random.default_rng(3)

    def weight(name, *shape):
        values = random.normal(0, 0.3, shape).astype(np.float32)
        return numpy_helper.from_array(values, name)

    nodes = [
        helper.make_node("Conv", ["image", "w", "b"], ["c"],
                         kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("GlobalAveragePool", ["r"], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "v", "a"], ["out"]),
    ]
    graph = helper.make_graph(
        nodes, "small",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT,
                                       ["batch", 3, 8, 8])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT,
                                       ["batch", 5])],
        [weight("w", 6, 3, 3, 3), weight("b", 6), weight("v", 6, 5),
         weight("a", 5)])
    onnx.save(helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 10)], ir_version=4),
        file)


def infer(model, image: np.ndarray) -> np.ndarray:
    shapes = popart.InputShapeInfo()
    shapes.add("image", popart.TensorInfo(image))
    session = popart.InferenceSession(
        model, popart.DataFlow(1, {"out": popart.AnchorReturnType("Final")}),
        popart.DeviceManager().createCpuDevice(), inputShapeInfo=shapes)
    session.prepareDevice()
    anchors = session.initAnchorArrays()
    session.run(popart.PyStepIO({"image": image}, anchors))
    return anchors["out"]


def train(file: str, image: np.ndarray, steps: int) -> list:
    """Losses of a fine-tuning that pushes the outputs to zero."""
    model = onnx.load(file)
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = BATCH
    builder = popart.Builder(model.SerializeToString())
    loss = builder.aiGraphcore.identityloss(
        [builder.aiOnnx.reducel1(["out"], keepdims=0)])
    session = popart.TrainingSession(
        builder.getModelProto(),
        popart.DataFlow(steps, {loss: popart.AnchorReturnType("EveryN", 2)}),
        loss, popart.ConstSGD(0.005),
        popart.DeviceManager().acquireAvailableDevice(1))
    session.prepareDevice()
    session.weightsFromHost()
    anchors = session.initAnchorArrays()
    session.run(popart.PyStepIO(
        {"image": np.repeat(image[None], steps, axis=0)}, anchors))
    return anchors[loss].tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", default=".")
    file = str(Path(parser.parse_args().folder) / "small.onnx")
    write_model(file)
    image = np.random.default_rng(4).random((BATCH, 3, 8, 8), np.float32)
    full = infer(file, image)
    transformer = popart.GraphTransformer(file)
    transformer.convertFloatsToHalfs()
    half = infer(transformer.getModelProto(), image.astype(np.float16))
    print(f"Largest output {np.abs(full).max():.4f}; halves differ by at most "
          f"{np.abs(full - half).max():.4f}")
    print("Losses:", *(f"{loss:.4f}" for loss in train(file, image, 8)))


if __name__ == "__main__":
    main()
