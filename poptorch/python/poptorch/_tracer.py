# Runs forward() once on traced tensors and writes down every torch operator that
# it calls. Attaches no meaning to them: that is TraceToIr.cpp's work.
import contextlib

import torch
from torch.utils._mode_utils import no_dispatch
from torch.utils._pytree import tree_flatten, tree_map

from ._active_tracer import activated
from ._autograd_functions import tracedFunctions
from ._bodies import Bodies, numbersOf
from ._composites import hiddenUpdates, registerComposites
from ._decompositions import DECOMPOSITIONS, takeApart
from ._dtypes import deviceType, hostValue, narrowed, warnIfNarrowed
from ._encoding import ArgumentEncoder
from ._errors import createPoptorchError
from ._folding import folded
from ._indexing import withKnownPlaces
from ._memory import Memory
from ._modes import DispatchMode, FunctionMode
from ._replica_groups import groupingOf
from ._reshaping import reshapeInPlace, reshapesInPlace
from ._source import callingLine
from ._trace_record import TraceRecord
from ._traced_tensor import Storage, TracedTensor
from ._schema import Layout
from ._shape_inference import infer
from ._unknowns import namesCpu, requireStatic
from ._views import View, partsOfSplit


class Tracer(ArgumentEncoder, Memory):
    def __init__(self, is_training=False):
        registerComposites()
        self.record = TraceRecord()
        self.is_training = is_training
        self.placement = (0, 0, 0, "")
        self.scope = []
        self.outline = {}  # by the key of poptorch.Attribute(__outline=...)
        self.bodies = Bodies(self)
        self._owned = []  # (name, number, storage) of state and inputs
        self._constants = {}  # values of captured constants by number
        self.host_calls = []  # of CPU ops, by the number that calls have

    # What the trace starts from.

    def addInput(self, name, tensor):
        warnIfNarrowed(tensor.dtype)
        traced = self._leaf(tensor, False)
        self.record.inputs.append((name, traced._number))
        self._owned.append((name, traced._number, traced._shared))
        return traced

    def addState(self, name, tensor, is_parameter):
        """A variable of the program, which starts with the tensor's value."""
        host = hostValue(tensor)
        grouping = groupingOf(tensor)
        traced = self._leaf(
            tensor if grouping is None else tensor[0],
            is_parameter and tensor.requires_grad,
        )
        self.record.state.append(
            (name, traced._number, is_parameter, host, grouping)
        )
        self._owned.append((name, traced._number, traced._shared))
        return traced

    def constant(self, tensor):
        traced = self._leaf(tensor, False)
        value = hostValue(tensor)
        # What is computed from it is as exact as it is on the host.
        self._constants[traced._number] = tensor.detach()
        self.record.constants.append((traced._number, value.numpy().tobytes()))
        return traced

    def addAttributes(self, attributes):
        """The name by which a call mentions attributes."""
        name = f"attr:{len(self.record.attributes)}"
        self.record.attributes[name] = attributes
        return name

    def constantValue(self, tensor):
        """The value of a tensor that is a constant, else None."""
        if not isinstance(tensor, TracedTensor):
            return tensor
        return self._constants.get(self.read(tensor))

    def constantOf(self, number):
        """The value that a number stands for, if it is a constant."""
        return self._constants.get(number)

    def isConstant(self, number):
        return number in self._constants

    def _leaf(self, tensor, requires_grad):
        dtype = narrowed(tensor.dtype)
        with no_dispatch():
            meta = torch.empty(tensor.shape, dtype=dtype, device="meta")
        number = self._addTensor(meta, requires_grad)
        return TracedTensor(self, meta, Storage(number, meta))

    # What it ends with.

    def addOutput(self, tensor):
        self.record.outputs.append(self.read(tensor))

    def finish(self):
        for _, number, storage in self._owned:
            if storage.number != number:
                self.record.written_back.append((number, storage.number))
        return self.record

    @contextlib.contextmanager
    def activate(self):
        with (
            activated(self),
            tracedFunctions(self),
            FunctionMode(self),
            DispatchMode(self),
        ):
            yield self

    # Values.

    def like(self, tensor):
        """A traced tensor of the same type and shape that no call makes."""
        meta = tensor._meta
        return self._wrap(meta, self._addTensor(meta, False))

    def namesOfOwned(self):
        """State and inputs by their storage."""
        return {storage: name for name, _, storage in self._owned}

    def _addTensor(self, meta, requires_grad):
        self.record.tensors.append(
            (deviceType(meta.dtype), tuple(meta.shape), requires_grad)
        )
        return len(self.record.tensors) - 1

    # Calls.

    def recordOne(self, op, arguments, meta, requires_grad=None):
        """Records a call with one result and returns the result's number."""
        return self._recordCall(op, arguments, [meta], requires_grad)[0]

    def recordSeveral(self, op, arguments, metas, requires_grad=None):
        """Records a call and returns its results."""
        numbers = self._recordCall(op, arguments, metas, requires_grad)
        return [self._wrap(m, n) for m, n in zip(metas, numbers)]

    def recordHostCall(self, call, inputs, metas):
        """Records a call of a CPU op and returns its results."""
        self.host_calls.append(call)
        numbers = [self.read(tensor) for tensor in inputs]
        return self.recordSeveral(
            "poptorch::cpu_op",
            [("tensors", numbers), len(self.host_calls) - 1],
            metas,
        )

    def _recordCall(self, op, arguments, metas, requires_grad=None):
        if self.placement is None:
            raise createPoptorchError(
                "No active Block, all the ops must belong to a Block"
            )
        if requires_grad is None:
            requires_grad = torch.is_grad_enabled() and any(
                self.record.tensors[n][2] for n in numbersOf(arguments)
            )
        results = [
            -1
            if meta is None
            else self._addTensor(
                meta, requires_grad and meta.dtype.is_floating_point
            )
            for meta in metas
        ]
        scope = "/".join(s for s in self.scope if s)
        self.bodies.calls().append(
            (op, arguments, results, self.placement, scope, callingLine(),
             dict(self.outline))  # fmt: skip
        )
        return results

    def recordWhole(self, func, args, kwargs):
        """Records a call that reached an operator kept whole."""
        with no_dispatch():
            return self.dispatch(func, args, kwargs)

    def dispatch(self, func, args, kwargs):
        """Records one call and returns its results as traced tensors."""
        op = func.name()
        for value in tree_flatten((args, kwargs))[0]:
            if isinstance(value, TracedTensor) and value._tracer is not self:
                self.takeOver(value)
        if reshapesInPlace(op):
            return reshapeInPlace(self, func, args, kwargs)
        layout = Layout.of(func)
        args = layout.withNumbers(args)
        values = folded(self, func, args, kwargs)
        if namesCpu(kwargs):
            return self._onCpu(values)
        if values is not None:
            return self._capture(func, layout, args, kwargs, values)
        args = withKnownPlaces(self, op, args)
        requireStatic(func, args, kwargs)
        if decomposition := DECOMPOSITIONS.get(_functionalName(op)):
            return takeApart(self, decomposition, layout, args, kwargs)
        arguments = self.encodeArguments(layout, args, kwargs)
        if layout.written is not None:
            return self._recordInPlace(op, layout, args, kwargs, arguments)
        result = infer(func, args, kwargs)
        if layout.is_view:
            return self._recordView(op, args[0], arguments, result)
        return self._recordFunction(op, args, arguments, result)

    def _onCpu(self, values):
        """The result of a move to the CPU: constants can be there."""
        if values is None:
            raise createPoptorchError(
                "Illegal move to CPU (via .to(\"cpu\") or .cpu()) while "
                "tracing: tensors have no values until the model runs."
            )
        return values

    def _capture(self, func, layout, args, kwargs, values):
        """The results of a call on constants are constants."""
        if layout.written is not None:
            target = layout.target(args, kwargs)
            value = flat(values)[0]
            if narrowed(value.dtype) != target.dtype:
                value = value.to(target.dtype)
            self._write(target, self.constant(value)._number)
            return target
        if layout.is_view:
            arguments = self.encodeArguments(layout, args, kwargs)
            metas = tree_map(_metaOf, values)
            numbers = [self.constant(v)._number for v in flat(values)]
            return self._views(func.name(), args[0], arguments, metas, numbers)
        return tree_map(
            lambda v: self.constant(v) if isinstance(v, torch.Tensor) else v,
            values,
        )

    def _recordFunction(self, op, args, arguments, result):
        metas, _ = tree_flatten(result)
        # In inference statistics stay: they would depend on the calls before.
        updated = hiddenUpdates(op, args) if self.is_training else []
        results = self._recordCall(
            op, arguments, [*metas, *(t._meta for t in updated)]
        )
        for tensor, number in zip(updated, results[len(metas) :]):
            self._write(tensor, number)
        numbers = iter(results)
        return tree_map(lambda meta: self._wrap(meta, next(numbers)), result)

    def _wrap(self, meta, number):
        if not isinstance(meta, torch.Tensor):
            return meta
        return TracedTensor(self, meta, Storage(number, meta))

    def _recordView(self, op, base, arguments, result):
        detached = False if op in ("aten::detach", "aten::detach_") else None
        numbers = self._recordCall(op, arguments, flat(result), detached)
        return self._views(op, base, arguments, result, numbers)

    def _views(self, op, base, arguments, result, numbers):
        several = isinstance(result, (list, tuple))
        metas = flat(result)
        if several:
            steps = partsOfSplit(op, arguments[1:], metas, base.dim())
        else:
            steps = [View(op, arguments[1:], result)]
        views = [
            TracedTensor(
                self, meta, base._shared, (*base._chain, step), number
            )
            for meta, step, number in zip(metas, steps, numbers)
        ]
        return views if several else views[0]

    def _recordInPlace(self, op, layout, args, kwargs, arguments):
        """op_(x) is x = op(x), in x's dtype; op(..., out=x) likewise."""
        target = layout.target(args, kwargs)
        op = op.replace(".out", "") if layout.is_out else _functionalName(op)
        if layout.is_out:
            arguments = arguments[: layout.written]
        requires_grad = False if op == "aten::detach" else None
        number = self.recordOne(op, arguments, target._meta, requires_grad)
        self._write(target, number)
        return target


# In-place operators whose functional form has another overload.
_RENAMED = {
    "aten::floor_divide_.Tensor": "aten::floor_divide",
    "aten::pow_.Scalar": "aten::pow.Tensor_Scalar",
    "aten::pow_.Tensor": "aten::pow.Tensor_Tensor",
}


def _functionalName(op):
    if op in _RENAMED:
        return _RENAMED[op]
    if op.startswith("aten::__i"):  # such as __ilshift__
        return op.replace("__i", "__", 1)
    name, dot, overload = op.partition(".")
    return name.rstrip("_") + dot + overload


def _metaOf(tensor):
    return tensor.to("meta", narrowed(tensor.dtype))


def flat(result):
    return list(result) if isinstance(result, (list, tuple)) else [result]
