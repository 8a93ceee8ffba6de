# Traces a module: swaps its parameters and buffers for traced tensors, runs
# forward(), collects the outputs and puts everything back.
import contextlib

import torch
from torch.nn.modules import module as torch_module
from torch.utils._mode_utils import no_dispatch

from . import _structure
from ._cumulative_norms import cumulativeNorms
from ._dtypes import toDevice
from ._errors import createPoptorchError
from ._gradient_hooks import ParameterHooks, withoutModuleHooks
from ._hooks import aroundCompilation
from ._left_behind import withoutTraces
from ._logging import logger
from ._optimizer_values import trainedBy
from ._traced_state import TracedState
from ._traced_tensor import TracedTensor
from ._tracer import Tracer


class TracedModel:
    """A record and how to rebuild what forward() returned."""

    def __init__(self, record, structure, state, host_calls):
        self.record = record
        # The outputs with each tensor on the device replaced by its position.
        self.structure = structure
        # The model's own tensors by the names that the record has for them.
        self.state_tensors = state.tensors
        # What the device does not have of them: see _traced_state.py.
        self.counters = state.counters
        self.frozen = state.frozen
        # What the program calls on the host, by number.
        self.host_calls = host_calls


def traceModel(model, binder, arguments, options, optimizer=None):
    """Runs `model` once on the shapes of `arguments`, (args, kwargs), to be
    trained by `optimizer` where there is one. Integers of its state are taken
    for constants, as most are: where forward() changes some it runs again."""
    variables = set()
    with aroundCompilation():
        while True:
            state = TracedState(variables)
            traced = _traceOnce(
                model, binder, arguments, options, optimizer, state
            )
            if variables.issuperset(state.changed):
                return traced
            variables.update(state.changed)


def _traceOnce(model, binder, arguments, options, optimizer, state):
    tracer = Tracer(is_training=optimizer is not None)
    tracer.strategy = options._execution_strategy
    tracer.strategy.startTrace()
    with contextlib.ExitStack() as stack:
        stack.enter_context(_withoutInferenceMode())
        stack.enter_context(_plainConstructor())
        if isinstance(model, torch.nn.Module):
            stack.enter_context(withoutModuleHooks(model, tracer.is_training))
            stack.enter_context(cumulativeNorms(model, tracer.is_training))
            stack.enter_context(withoutTraces(model))
            stack.enter_context(state.swapped(model, tracer))
            if options._module_namescope_enabled:
                stack.enter_context(_scopes(model, tracer))
        stack.enter_context(_noDistributionChecks())
        args, kwargs = _tracedArguments(tracer, binder, arguments)
        with tracer.activate():
            hooks = ParameterHooks(tracer, state.parameters())
            outputs = model(*args, **kwargs)
            structure = _collectOutputs(tracer, outputs)
            hooks.place()
    record = tracer.finish()
    if optimizer is not None:
        _freezeOthers(record, state.tensors, trainedBy(optimizer))
        _checkTrained(record)
    state.requireApart(record, optimizer is not None)
    return TracedModel(record, structure, state, tracer.host_calls)


def modesOf(model):
    """What `training` is in each module."""
    if not isinstance(model, torch.nn.Module):
        return []
    return [module.training for module in model.modules()]


def _freezeOthers(record, tensors, trained):
    """Parameters that the optimiser was not given are not trained, whatever
    they require."""
    for name, number, *_ in record.state:
        if id(tensors[name]) not in trained:
            dtype, shape, _ = record.tensors[number]
            record.tensors[number] = (dtype, shape, False)


def _checkTrained(record):
    """The optimiser alone changes what it trains."""
    written = {number for number, _ in record.written_back}
    for name, number, *_ in record.state:
        if number in written and record.tensors[number][2]:
            raise createPoptorchError(
                f"Parameter {name} is changed in forward() and trained by the "
                "optimiser: change it on the host between the steps, or change a "
                "copy of it."
            )


def _tracedArguments(tracer, binder, arguments):
    traced = binder.mapTensors(*arguments, tracer.addInput)
    return _structure.rebuild(traced, ())


def _collectOutputs(tracer, outputs):
    def collect(name, tensor):
        if isinstance(tensor, TracedTensor):
            constant = tracer.constantValue(tensor)
            if constant is not None:
                return _structure.Value(toDevice(constant))
            tracer.addOutput(tensor)
            return _structure.Slot(len(tracer.record.outputs) - 1)
        logger.warning(
            "Output expected to be on the IPU but is on %s", tensor.device
        )
        return _structure.Value(tensor)

    return _structure.mapTensors(outputs, collect)


@contextlib.contextmanager
def _scopes(model, tracer):
    """Names calls after the modules they are made in."""
    names = {
        id(module): name.rpartition(".")[2]
        for name, module in model.named_modules()
    }

    def enter(module, inputs):
        tracer.scope.append(names.get(id(module), ""))

    def leave(module, inputs, outputs):
        tracer.scope.pop()

    handles = [
        torch_module.register_module_forward_pre_hook(enter),
        torch_module.register_module_forward_hook(leave),
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextlib.contextmanager
def _withoutInferenceMode():
    """Inside, inference mode is no_grad(), which is what it means to a trace:
    its tensors would not reach the operators that are kept whole."""
    mode = torch.inference_mode

    def enter(self):
        self.grad_before = torch.is_grad_enabled()
        torch.set_grad_enabled(not self.mode)

    def leave(self, *exception):
        torch.set_grad_enabled(self.grad_before)

    isGradEnabled = torch.is_grad_enabled()
    with mode(False), torch.set_grad_enabled(isGradEnabled):
        before = mode.__enter__, mode.__exit__
        mode.__enter__, mode.__exit__ = enter, leave
        try:
            yield
        finally:
            mode.__enter__, mode.__exit__ = before


@contextlib.contextmanager
def _plainConstructor():
    """torch.Tensor(numbers) makes a tensor on the CPU: this torch fails if a
    dispatch mode sees how."""
    original = torch.Tensor.__new__

    def make(cls, *args, **kwargs):
        if cls is not torch.Tensor:
            return original(cls, *args, **kwargs)
        with no_dispatch():
            return original(cls, *args, **kwargs)

    torch.Tensor.__new__ = staticmethod(make)
    try:
        yield
    finally:
        del torch.Tensor.__new__


@contextlib.contextmanager
def _noDistributionChecks():
    """Argument checks of distributions look at values, which are not there."""
    Distribution = torch.distributions.Distribution
    before = Distribution._validate_args
    Distribution.set_default_validate_args(False)
    try:
        yield
    finally:
        Distribution.set_default_validate_args(before)
