"""ONNX's own cases of its operators, run in inference sessions.

A case is eligible when PopART has its operator in the version of the case's
opset, for the element types of its inputs; both are asked of PopART's rules.
The table at the end counts passed, eligible and all cases by operator.
"""
import functools
import importlib
import pkgutil
import warnings

import numpy as np
import pytest

import popart

onnx = pytest.importorskip("onnx")

# Fewer digits than ONNX's own tolerance where the device has fewer.
HALF_TOLERANCE = 2e-3

# Element types that a device has; 64-bit integers have 32 bits there.
TYPES = {"FLOAT", "FLOAT16", "BOOL", "INT8", "INT16", "INT32", "INT64", "UINT8",
         "UINT16", "UINT32", "UINT64"}

# Constants are tensors of the IR and have no rule.
CONSTANT = ([1, 9, 11, 12, 13], [])


# What PopART's operators do not have, by a part of the case's name.
LIMITS = {"peepholes": "LSTM without peepholes",
          "batchwise": "layers with the time first",
          "crop_and_resize": "no regions of interest",
          "with_argmax": "MaxPool without indices",
          "training_dropout": "inference drops nothing"}

# PopART gives 32 bits where ONNX has 64.
INT32_RESULTS = {"ArgMax", "ArgMin"}

# All inputs are wanted when the model is compiled: shapes, numbers of turns.
KNOWN_INPUTS = {"ConstantOfShape", "Loop"}


def rules() -> dict:
    """{operator: (since-versions, names of the first input's types)}."""
    return {**popart.popart_core._operationTypes(), "Constant": CONSTANT}


@functools.lru_cache(maxsize=None)
def cases_by_operator() -> dict:
    """{operator: [case]} of the operators that PopART has a rule for."""
    known = {name.lower() for name in rules()}
    # ONNX 1.12 uses names that NumPy has dropped since.
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, kind in (("float", float), ("int", int), ("bool", bool),
                           ("object", object)):
            patch.setattr(np, name, kind, raising=False)
        from onnx.backend.test.case import node
        from onnx.backend.test.case.node import _NodeTestCases
        for module in pkgutil.iter_modules(node.__path__):
            name = module.name.replace("_", "")
            if name in known:
                importlib.import_module(f"{node.__name__}.{module.name}")
        found = {}
        for case in _NodeTestCases:
            nodes = case.model.graph.node
            if len(nodes) == 1:  # the others are ONNX's own decompositions
                found.setdefault(nodes[0].op_type, []).append(case)
    return found


def opset_of(case) -> int:
    """The case's own, or 6 for an operator that is the same there."""
    (opset,) = case.model.opset_import
    if opset.domain:
        return 0
    name = case.model.graph.node[0].op_type
    is_same = (onnx.defs.get_schema(name, opset.version, "").since_version ==
               onnx.defs.get_schema(name, 6, "").since_version
               if opset.version < 6 else False)
    return 6 if is_same else opset.version


def type_name(value) -> str:
    if not value.type.HasField("tensor_type"):
        return "not a tensor"
    return onnx.TensorProto.DataType.Name(value.type.tensor_type.elem_type)


def why_not(case) -> str:
    """Empty for a case that PopART must pass."""
    node = case.model.graph.node[0]
    opset = opset_of(case)
    for part, limit in LIMITS.items():
        if part in case.name:
            return limit
    if node.domain or not 6 <= opset <= 17:
        return f"opset {opset}"
    if node.op_type not in rules():
        return "no rule"
    versions, types = rules()[node.op_type]
    since = onnx.defs.get_schema(node.op_type, opset, "").since_version
    if since not in versions:
        return f"version {since}"
    inputs = [type_name(value) for value in case.model.graph.input]
    outputs = [type_name(value) for value in case.model.graph.output]
    others = set(inputs + outputs) - TYPES
    if others:
        return f"types {others}"
    if types and inputs and inputs[0] not in types:
        return f"type {inputs[0]}"
    return ""


def cases():
    return [pytest.param(case, id=case.name)
            for _, found in sorted(cases_by_operator().items())
            for case in found if not why_not(case)]


def with_constants(case, inputs) -> "onnx.ModelProto":
    """Inputs after the first become initialisers: PopART wants shapes, axes
    and the like when it compiles."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    kept = 0 if model.graph.node[0].op_type in KNOWN_INPUTS else 1
    del model.graph.input[kept:]
    for value, array in list(zip(case.model.graph.input, inputs))[kept:]:
        model.graph.initializer.append(
            onnx.numpy_helper.from_array(np.asarray(array), value.name))
    return model


def run(model, opset: int, feeds: dict) -> dict:
    model.opset_import[0].version = opset
    outputs = [value.name for value in model.graph.output]
    session = popart.InferenceSession(
        model.SerializeToString(), popart.DataFlow(1, outputs),
        popart.DeviceManager().createCpuDevice())
    session.prepareDevice()
    anchors = session.initAnchorArrays()
    session.run(popart.PyStepIO(feeds, anchors))
    return anchors


def compare(actual: np.ndarray, expected: np.ndarray, case) -> None:
    if case.model.graph.node[0].op_type in INT32_RESULTS:
        expected = expected.astype(np.int32)
    assert list(actual.shape) == list(expected.shape)
    assert actual.dtype == expected.dtype
    if expected.dtype.kind == "f":
        rtol = max(case.rtol, HALF_TOLERANCE
                   if expected.dtype == np.float16 else 0)
        np.testing.assert_allclose(actual, expected, rtol=rtol,
                                   atol=max(case.atol, 1e-6))
    else:
        np.testing.assert_array_equal(actual, expected)


@pytest.fixture(scope="module")
def passed():
    """Names of the cases that passed; prints the table at the end."""
    names = set()
    yield names
    print("\noperator: passed / eligible / total")
    totals = [0, 0, 0]
    for operator, found in sorted(cases_by_operator().items()):
        eligible = [case for case in found if not why_not(case)]
        counts = [sum(case.name in names for case in eligible),
                  len(eligible), len(found)]
        totals = [a + b for a, b in zip(totals, counts)]
        print(f"  {operator}: {counts[0]} / {counts[1]} / {counts[2]}")
    print(f"  all: {totals[0]} / {totals[1]} / {totals[2]}")


@pytest.mark.parametrize("case", cases())
def test_onnx_case(case, passed):
    for inputs, outputs in case.data_sets:
        names = [value.name for value in case.model.graph.input]
        feeds = {name: np.ascontiguousarray(array)
                 for name, array in zip(names, inputs)}
        try:
            results = run(case.model, opset_of(case), feeds)
        except popart.popart_exception:
            # Some inputs must be known when the model is compiled.
            model = with_constants(case, inputs)
            kept = [value.name for value in model.graph.input]
            if kept == names:
                raise
            results = run(model, opset_of(case),
                          {name: feeds[name] for name in kept})
        for value, expected in zip(case.model.graph.output, outputs):
            compare(results[value.name], np.asarray(expected), case)
    passed.add(case.name)
