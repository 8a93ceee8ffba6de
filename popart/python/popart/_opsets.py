"""A class for each opset with a method for each operator.

The native library has the table of signatures; ONNX's part of it comes from
ONNX's own schemas.
"""
import inspect
import keyword

import numpy as np

from . import popart_core

_LISTS = {"ints": int, "floats": float, "strings": str}
# What a method takes first: BuilderInputs in C++.
_NONE, _ONE, _LIST, _OPTIONAL_LIST = range(4)


class _OpSet:
    """`opset` of `domain`, adding nodes to a builder."""

    domain = ""
    opset = 0

    def __init__(self, builder, opset: int = 0):
        self._builder = builder
        self.version = opset or self.opset


def _reduces(row: dict) -> bool:
    """No axes and an empty list of axes are different things for a reduction."""
    return row["type"].startswith("Reduce")


def _value(kind: str, value, keeps_empty: bool = False):
    """As the native builder takes it; None for what was left out, which lists
    are by being empty, too, unless `keeps_empty`."""
    if value is None:
        return None
    if kind == "graph":
        return value._core
    if kind == "tensor":
        return np.asarray(value, order="C")  # scalars stay scalars
    if isinstance(value, popart_core.CommGroup):
        return [int(value.type), int(value.replicaGroupSize)]
    if kind in _LISTS:
        items = [_LISTS[kind](item) for item in value]
        return items if items or keeps_empty else None
    return {"int": int, "float": float, "str": str}[kind](value)


def _default(row: dict, argument: tuple):
    name, kind, is_required, default = argument
    if is_required:
        return inspect.Parameter.empty
    if default is None and kind in _LISTS and not _reduces(row):
        return []
    return default


def _signature(row: dict) -> inspect.Signature:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter("self", kind)]
    if row["inputs"] != _NONE:
        parameters.append(inspect.Parameter(
            "arg" if row["inputs"] == _ONE else "args", kind,
            default=() if row["inputs"] == _OPTIONAL_LIST
            else inspect.Parameter.empty))
    if row["isCounted"]:
        parameters.append(inspect.Parameter("num_outputs", kind))
    context = inspect.Parameter("debugContext", kind, default="")
    for i, argument in enumerate(row["arguments"]):
        if i == row["argumentsBeforeContext"]:
            parameters.append(context)
        name = argument[0]
        parameters.append(inspect.Parameter(
            name + "_" if keyword.iskeyword(name) else name, kind,
            default=_default(row, argument)))
    if row["type"] == "Constant" and row["version"] >= 11:
        parameters.append(
            inspect.Parameter("is_value_sparse", kind, default=False))
    if context not in parameters:
        parameters.append(context)
    return inspect.Signature(parameters)


def _method(row: dict):
    signature = _signature(row)

    def method(*args, **kwargs):
        if "debugPrefix" in kwargs:  # its name in old programs
            kwargs["debugContext"] = kwargs.pop("debugPrefix")
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = bound.arguments
        attributes = {}
        for name, kind, _, _ in row["arguments"]:
            given = values.get(name, values.get(name + "_"))
            if row["type"] == "Init" and isinstance(given, str):
                # There is an init() without this number.
                values["debugContext"], given = given, None
            if row["isCast"]:
                kind, given = "int", popart_core._onnxTypeNumber(given)
            value = _value(kind, given, _reduces(row))
            if value is not None:
                attributes[name] = value
        opset = values["self"]
        outputs = opset._builder._core.addNode(
            opset.domain, row["type"], opset.version,
            [values["arg"]] if "arg" in values
            else list(values.get("args", [])),
            int(values.get("num_outputs", row["outputs"])), attributes,
            str(values["debugContext"]))
        return outputs[0] if row["isOne"] else outputs

    method.__name__ = method.__qualname__ = row["method"]
    method.__signature__ = signature
    method.__doc__ = f"Adds a node of {row['type']}."
    return method


def _make(name: str, base: type, domain: str, opset: int, rows: list) -> type:
    body = {row["method"]: _method(row) for row in rows}
    return type(name, (base,), {**body, "domain": domain, "opset": opset,
                                "__module__": __name__})


def _makeAiOnnx() -> dict:
    """Each class has what is new or different in its opset."""
    classes = {}
    base, versions = _OpSet, {}
    for opset in range(6, 12):
        rows = [row for row in popart_core._aiOnnxSignatures(opset)
                if versions.get(row["method"]) != row["version"]]
        versions.update((row["method"], row["version"]) for row in rows)
        base = _make(f"AiOnnxOpset{opset}", base, "ai.onnx", opset, rows)
        classes[opset] = base
    return classes


class _Graphcore(_OpSet):
    """What takes lists of lists."""

    def multiconv(self, args, dilations=(), inDilations=(), pads=(), outPads=(),
                  strides=(), availableMemoryProportions=(), partialsTypes=(),
                  planType=None, perConvReservedTiles=None, cycleBackOff=None,
                  enableConvDithering=(), debugContext=""):
        """Adds a node of MultiConv: for each convolution its input, weights
        and maybe biases. Lists have an entry for each, or none."""
        attributes = {"inputCounts": [len(inputs) for inputs in args]}
        for name, lists in (("dilations", dilations),
                            ("inDilations", inDilations), ("pads", pads),
                            ("outPads", outPads), ("strides", strides)):
            numbers = [int(number) for row in lists for number in row]
            if numbers:
                attributes[name] = numbers
        for name, kind, value in (
                ("availableMemoryProportions", "floats",
                 availableMemoryProportions),
                ("partialsTypes", "strings", partialsTypes),
                ("planType", "str", planType),
                ("perConvReservedTiles", "int", perConvReservedTiles),
                ("cycleBackOff", "float", cycleBackOff),
                ("enableConvDithering", "ints", enableConvDithering)):
            converted = _value(kind, value)
            if converted is not None:
                attributes[name] = converted
        return self._builder._core.addNode(
            self.domain, "MultiConv", self.version,
            [tensor for inputs in args for tensor in inputs], len(args),
            attributes, str(debugContext))


AI_ONNX = _makeAiOnnx()
AiOnnxOpset6 = AI_ONNX[6]
AiOnnxOpset7 = AI_ONNX[7]
AiOnnxOpset8 = AI_ONNX[8]
AiOnnxOpset9 = AI_ONNX[9]
AiOnnxOpset10 = AI_ONNX[10]
AiOnnxOpset11 = AI_ONNX[11]
AiOnnxMlOpset1 = _make("AiOnnxMlOpset1", _OpSet, "ai.onnx.ml", 1,
                       popart_core._aiOnnxMlSignatures())
AiGraphcoreOpset1 = _make("AiGraphcoreOpset1", _Graphcore, "ai.graphcore", 1,
                          popart_core._aiGraphcoreSignatures())
