"""Resize by every mode, way to place and way to round, against ONNX's reference
and figures."""
import itertools

import numpy as np
import popart
import pytest
from programs import infer, run

onnx = pytest.importorskip("onnx")
reference = pytest.importorskip("onnx.backend.test.case.node.resize")

COORDINATES = ["half_pixel", "pytorch_half_pixel", "asymmetric",
               "align_corners"]
ROUNDINGS = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
SCALES = [0.3, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.6, 3.0]
X = np.random.default_rng(2).permutation(35).reshape(5, 7).astype(np.float32)


def node_of(mode, coordinates, rounding, output, scales):
    return onnx.helper.make_node(
        "Resize", ["x", "roi", scales], [output], mode=mode,
        coordinate_transformation_mode=coordinates,
        **({"nearest_mode": rounding} if mode == "nearest" else {}))


def expected(mode, coordinates, rounding, scales):
    weights = {
        "nearest": lambda ratio: reference.nearest_coeffs(ratio, rounding),
        "linear": reference.linear_coeffs,
        "cubic": reference.cubic_coeffs,
    }[mode]
    return reference.interpolate_nd(
        X, weights, scale_factors=scales,
        coordinate_transformation_mode=coordinates)


@pytest.mark.parametrize("executor", ["fast", "reference"])
@pytest.mark.parametrize("opset", [11, 13])
@pytest.mark.parametrize("scale", SCALES)
def test_every_mode_is_onnx(scale, opset, executor, monkeypatch):
    monkeypatch.setenv("ASPEN_EXECUTOR", executor)
    # What the device has, too.
    scales = np.array([scale, SCALES[SCALES.index(scale) - 2]], np.float32)
    nodes, wanted = [], {}
    for mode, coordinates in itertools.product(("nearest", "linear", "cubic"),
                                               COORDINATES):
        for rounding in ROUNDINGS if mode == "nearest" else [None]:
            name = f"{mode} {coordinates} {rounding}"
            nodes.append(node_of(mode, coordinates, rounding, name, "scales"))
            wanted[name] = expected(mode, coordinates, rounding,
                                    scales.astype(np.float64))
    kind = onnx.TensorProto.FLOAT
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        nodes, "resize", [info("x", kind, X.shape)],
        [info(name, kind, value.shape) for name, value in wanted.items()],
        [onnx.helper.make_tensor("scales", kind, [2], scales),
         onnx.helper.make_tensor("roi", kind, [0], [])])
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", opset)])
    for array, (name, value) in zip(
            infer(model.SerializeToString(), {"x": X}, list(wanted)),
            wanted.items()):
        assert array.shape == value.shape, name
        np.testing.assert_allclose(array, value, rtol=1e-4, atol=1e-4,
                                   err_msg=name)


@pytest.mark.parametrize("rounding, picked", [
    ("round_prefer_floor", [1, 1, 2, 3, 3, 4]),
    ("round_prefer_ceil", [1, 2, 2, 3, 4, 4]), ("floor", [1, 1, 2, 2, 3, 4]),
    ("ceil", [1, 2, 3, 3, 4, 4]), ("pytorch", [1, 1, 2, 3, 3, 4])])
@pytest.mark.parametrize("by_sizes", [False, True])
def test_four_elements_become_six(rounding, picked, by_sizes):
    builder = popart.Builder(opsets={"ai.onnx": 11, "ai.graphcore": 1})
    x = builder.addInputTensor("FLOAT", [4], "x")
    roi = builder.aiOnnx.constant(np.array([], np.float32))
    scales = builder.aiOnnx.constant(np.array([1.5], np.float32))
    sizes = builder.aiOnnx.constant(np.array([6], np.int64))
    y = builder.aiOnnx.resize(
        [x, roi, roi, sizes] if by_sizes else [x, roi, scales],
        nearest_mode=rounding)
    assert builder.getTensorShape(y) == [6]
    (result,) = run(builder, {x: np.array([1, 2, 3, 4], np.float32)}, [y])
    np.testing.assert_array_equal(result, picked)


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("scale", SCALES)
def test_rounding_as_pytorch_has_one_way_to_place(coordinates, scale):
    builder = popart.Builder(opsets={"ai.onnx": 11, "ai.graphcore": 1})
    x = builder.addInputTensor("FLOAT", [7], "x")
    roi = builder.aiOnnx.constant(np.array([], np.float32))
    scales = builder.aiOnnx.constant(np.array([scale], np.float32))
    y = builder.aiOnnx.resize([x, roi, scales], nearest_mode="pytorch",
                              coordinate_transformation_mode=coordinates)
    array = np.arange(7, dtype=np.float32)
    (result,) = run(builder, {x: array}, [y])
    places = np.arange(int(7 * scale))
    np.testing.assert_array_equal(
        result, np.floor(places / np.float64(np.float32(scale))))


@pytest.mark.parametrize("scale", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("opset", [10, 11])
def test_whole_scales_repeat(scale, opset):
    builder = popart.Builder(opsets={"ai.onnx": opset, "ai.graphcore": 1})
    x = builder.addInputTensor("FLOAT", [2], "x")
    scales = builder.aiOnnx.constant(np.array([scale], np.float32))
    roi = builder.aiOnnx.constant(np.array([], np.float32))
    y = builder.aiOnnx.resize([x, scales] if opset == 10 else [x, roi, scales])
    (result,) = run(builder, {x: np.array([1, 2], np.float32)}, [y])
    np.testing.assert_array_equal(result, np.repeat([1, 2], scale))
