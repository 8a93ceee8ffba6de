"""Builds ONNX models: inputs, weights and a method for each operator."""
from contextlib import contextmanager

import numpy as np

from . import _opsets, popart_core
from .popart_core import RecomputeType
from .tensorinfo import TensorInfo

_DEFAULT_OPSETS = {"ai.onnx": 10, "ai.graphcore": 1}


class DebugContext:
    """The name of a tensor or a node."""

    def __init__(self, name: str = ""):
        self.name = name

    def __str__(self):
        return self.name


def _names(outputs) -> set:
    """An id, or a list or set of them, as a set."""
    return {outputs} if isinstance(outputs, str) else set(outputs)


class Builder:
    def __init__(self, modelProtoOrFilename=None, opsets=None,
                 builderCore=None):
        self._core = builderCore or popart_core._BuilderCore()
        self._opsets = dict(opsets or {})
        if modelProtoOrFilename is not None:
            self._core.loadModelProto(modelProtoOrFilename)

    # Operators. The first choice of an opset is the builder's.

    def _opset(self, domain: str, version: int, attribute: str) -> int:
        known = self._opsets.setdefault(domain, version)
        if known != version:
            raise RuntimeError(
                f"Invalid opset '{attribute}' selected. Opset for domain "
                f"{domain} already defined as {known}")
        return version

    @property
    def aiOnnx(self):
        version = self._opsets.setdefault("ai.onnx",
                                          _DEFAULT_OPSETS["ai.onnx"])
        return _opsets.AI_ONNX[version](self)

    @property
    def aiOnnxMl(self):
        self._opset("ai.onnx.ml", 1, "aiOnnxMl")
        return _opsets.AiOnnxMlOpset1(self)

    @property
    def aiOnnxMlOpset1(self):
        return self.aiOnnxMl

    @property
    def aiGraphcore(self):
        self._opset("ai.graphcore", 1, "aiGraphcore")
        return _opsets.AiGraphcoreOpset1(self)

    @property
    def aiGraphcoreOpset1(self):
        return self.aiGraphcore

    def __getattr__(self, name: str):
        if name.startswith("aiOnnxOpset") and name[11:].isdigit():
            version = int(name[11:])
            if version in _opsets.AI_ONNX:
                self._opset("ai.onnx", version, name)
                return _opsets.AI_ONNX[version](self)
        if name.startswith("_"):
            raise AttributeError(name)
        # The rest is the native builder's.
        return getattr(self._core, name)

    def customOp(self, opName, opVersion, domain, inputs, attributes,
                 numOutputs=1, name=""):
        return self._core.addNode(domain, opName, opVersion, list(inputs),
                                  numOutputs, dict(attributes), str(name))

    def reshape_const(self, aiOnnx, args, shape, debugContext=""):
        constant = aiOnnx.constant(np.array(shape, dtype=np.int64),
                                   debugContext=debugContext)
        return aiOnnx.reshape([args[0], constant], debugContext=debugContext)

    # Tensors.

    def addInputTensor(self, *args, debugContext="", debugPrefix=None,
                       settings=None):
        """(info[, settings][, name]) or (type, shape[, settings][, name])."""
        rest = list(args)
        first = rest.pop(0)
        if isinstance(first, popart_core._TensorInfoCore):
            info = first
        else:
            info = TensorInfo(first, rest.pop(0))
        if rest and isinstance(rest[0], popart_core.InputSettings):
            settings = rest.pop(0)
        name = str(rest.pop(0) if rest else debugPrefix or debugContext)
        if rest:
            raise TypeError(f"addInputTensor() has no argument for {rest[0]}")
        if settings is None:
            return self._core.addInputTensor(info, name)
        return self._core.addInputTensor(info, settings, name)

    def addUntypedInputTensor(self, debugContext=""):
        return self._core.addUntypedInputTensor(str(debugContext))

    def addInitializedInputTensor(self, initVal, *args, debugContext="",
                                  debugPrefix=None, variableSettings=None):
        """(array[, settings][, name])"""
        rest = list(args)
        if rest and isinstance(rest[0], popart_core.VariableSettings):
            variableSettings = rest.pop(0)
        name = str(rest.pop(0) if rest else debugPrefix or debugContext)
        if rest:
            raise TypeError("addInitializedInputTensor() has no argument for "
                            f"{rest[0]}")
        return self._core.addInitializedInputTensor(
            np.asarray(initVal),
            variableSettings or popart_core.VariableSettings(), name)

    def createSubgraphBuilder(self):
        return Builder(opsets=self._opsets,
                       builderCore=self._core.createSubgraphBuilder())

    # Names, and attributes of the nodes that are added inside a `with`.

    @contextmanager
    def nameScope(self, name: str):
        self._core.pushNameScope(name)
        try:
            yield
        finally:
            self._core.popNameScope()

    @contextmanager
    def _attribute(self, name: str, value):
        """Nested ones give way to the innermost."""
        outer = self._scoped.get(name)
        self._scoped[name] = value
        self._core.setAttribute(name, value)
        try:
            yield
        finally:
            self._scoped[name] = outer
            if outer is None:
                self._core.clearAttribute(name)
            else:
                self._core.setAttribute(name, outer)

    @property
    def _scoped(self) -> dict:
        return self.__dict__.setdefault("_scopedAttributes", {})

    def _place(self, attribute: str, mark, args, value):
        """With outputs: marks their node. With a number: a scope."""
        if args and not isinstance(args[0], int):
            mark(_names(args[0]), int(args[1] if len(args) > 1 else value))
            return None
        return self._attribute(attribute, int(args[0] if args else value))

    def virtualGraph(self, *args, value=0):
        return self._place("__ipu_number", self._core.virtualGraph, args,
                           value)

    def pipelineStage(self, *args, value=0):
        return self._place("__pipeline_stage", self._core.pipelineStage, args,
                           value)

    def executionPhase(self, *args, value=0):
        return self._place("__execution_phase", self._core.executionPhase,
                           args, value)

    def getVirtualGraph(self, outputs):
        return self._core.getVirtualGraph(_names(outputs))

    def hasVirtualGraph(self, outputs):
        return self._core.hasVirtualGraph(_names(outputs))

    def getPipelineStage(self, outputs):
        return self._core.getPipelineStage(_names(outputs))

    def hasPipelineStage(self, outputs):
        return self._core.hasPipelineStage(_names(outputs))

    def getExecutionPhase(self, outputs):
        return self._core.getExecutionPhase(_names(outputs))

    def hasExecutionPhase(self, outputs):
        return self._core.hasExecutionPhase(_names(outputs))

    def recomputeOutput(self, *args, value=RecomputeType.Undefined):
        """(outputs[, type]) marks a node; ([type]) is a scope."""
        if args and not isinstance(args[0], RecomputeType):
            return self.recomputeOutputInBackwardPass(
                args[0], args[1] if len(args) > 1 else value)
        return self._attribute("__recompute_output_in_backward_pass",
                               int(args[0] if args else value))

    def recomputeOutputInBackwardPass(self, nodeOutputNames,
                                      value=RecomputeType.Recompute):
        self._core.recomputeOutputInBackwardPass(_names(nodeOutputNames),
                                                 value)

    def getRecomputeOutputInBackwardPass(self, nodeOutputNames) -> bool:
        return self._core.getRecomputeOutputInBackwardPass(
            _names(nodeOutputNames))

    def checkpointOutput(self, nodeOutputNames):
        self._opsets.setdefault("ai.onnx", _DEFAULT_OPSETS["ai.onnx"])
        return self._core.checkpointOutput(list(nodeOutputNames))

    @staticmethod
    def _locationValues(location) -> list:
        return [int(location.storage), int(location.loadTileSet),
                int(location.storageTileSet),
                int(location.replicatedTensorSharding)]

    def outputTensorLocation(self, *args):
        name = "__output_tensor_location"
        if isinstance(args[0], popart_core.TensorLocation):
            return self._attribute(name, self._locationValues(args[0]))
        self._core.outputTensorLocation(_names(args[0]), args[1])
        return None

    def schedulePriority(self, value):
        return self._attribute("__schedule_priority", float(value))

    def outlineAttributes(self, values: dict):
        flat = [str(item) for pair in sorted(values.items()) for item in pair]
        return self._attribute("__outline", flat)

    @contextmanager
    def commGroup(self, type=0, groupSize=0):
        with self._attribute("__comm_group_type", int(type)), \
                self._attribute("__comm_group_size", int(groupSize)):
            yield

    # Attributes of single nodes.

    def setAvailableMemoryProportion(self, nodeOutputNames, proportion):
        self._core.setAvailableMemoryProportion(_names(nodeOutputNames),
                                                proportion)

    def setSerializeMatMul(self, nodeOutputNames, mode, factor=0,
                           keep_precision=False):
        self._core.setSerializeMatMul(_names(nodeOutputNames), mode, factor,
                                      keep_precision)

    def addNodeAttribute(self, attributeName, attributeValue,
                         nodeOutputNames):
        self._core.addNodeAttribute(attributeName, attributeValue,
                                    _names(nodeOutputNames))
