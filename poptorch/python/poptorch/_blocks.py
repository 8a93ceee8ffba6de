# Blocks: the parts of forward() that strategies place on IPUs.
import functools

import torch

from ._active_tracer import activeTracer
from ._errors import createPoptorchError
from ._logging import logger

_HOOK = "_poptorch_begin_block"


def _enter(user_id, ipu_id):
    tracer = activeTracer()
    if tracer is None:
        return
    placement = tracer.strategy.place(user_id, ipu_id)
    ipu, stage, phase = placement
    logger.debug(
        "Starting block id=%s stage=%d phase=%d ipu=%d",
        user_id, stage, phase, ipu,
    )  # fmt: skip
    torch.ops.poptorch.begin_ipu_block(stage, phase, ipu)
    tracer.placement = (ipu, stage, phase, str(user_id))


def _leave():
    torch.ops.poptorch.end_ipu_block()


class Block(torch.nn.Module):
    """A part of forward(), as a context manager."""

    _next_id = 0

    @staticmethod
    def useAutoId():
        """Numbers the blocks that have no id from 0 again."""
        Block._next_id = 0

    @staticmethod
    def _autoId():
        identifier = str(Block._next_id)
        Block._next_id += 1
        return identifier

    @staticmethod
    def start(user_id=None, ipu_id=None):
        """Begins a block that ends where the next one begins."""
        _enter(Block._autoId() if user_id is None else user_id, ipu_id)

    def __init__(self, user_id=None, ipu_id=None):
        super().__init__()
        self._user_id = user_id
        self._ipu_id = ipu_id

    def __enter__(self):
        Block.start(self._user_id, self._ipu_id)
        return self

    def __exit__(self, *exception):
        _leave()


class BeginBlockHook:
    """The forward-pre-hook that begins a block."""

    def __init__(self, user_id, ipu_id):
        self._user_id = user_id
        self._ipu_id = ipu_id

    def __call__(self, module, inputs):
        if self._user_id is None and activeTracer() is not None:
            self._user_id = Block._autoId()
        _enter(self._user_id, self._ipu_id)

    def __repr__(self):
        return f"BeginBlock(user_id={self._user_id}, ipu_id={self._ipu_id})"


class _CallableModule(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self._function = function

    def forward(self, *args, **kwargs):
        return self._function(*args, **kwargs)


def BeginBlock(layer_to_call, user_id=None, ipu_id=None):
    """Everything from `layer_to_call` onward is in this block, until another
    begins. Returns the layer."""
    if not isinstance(layer_to_call, torch.nn.Module):
        if not callable(layer_to_call):
            raise createPoptorchError(
                "module is not an instance of torch.nn.Module or function."
            )
        layer_to_call = _CallableModule(layer_to_call)
    if findBlock(layer_to_call) is not None:
        raise createPoptorchError(
            "module has already been assigned to a block."
        )
    hook = BeginBlockHook(user_id, ipu_id)
    handle = layer_to_call.register_forward_pre_hook(hook)
    layer_to_call.__dict__[_HOOK] = handle
    return layer_to_call


# The form of SDK 2 replaced the module's class; what it does is the same.
LegacyBeginBlockFn = BeginBlock


def findBlock(module):
    """The hook that BeginBlock gave a module, or None."""
    for hook in module._forward_pre_hooks.values():
        if isinstance(hook, BeginBlockHook):
            return hook
    return None


def BlockFunction(user_id=None, ipu_id=None):
    """Decorator: the function's body is a block."""

    def decorator(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with Block(user_id, ipu_id):
                return function(*args, **kwargs)

        return wrapper

    return decorator


def removeBlocks(module):
    """Takes all blocks off a module and its children."""
    assert isinstance(module, torch.nn.Module)
    for child in module.modules():
        handle = child.__dict__.pop(_HOOK, None)
        if handle is not None:
            handle.remove()


def module_repr(module):
    """repr(module) with the blocks that begin in it."""
    lines = []
    for name, child in module.named_children():
        lines.append(f"({name}): " + _indent(_annotated(child)))
    extra = module.extra_repr()
    text = module._get_name() + "("
    if not lines:
        return text + extra + ")"
    body = ([extra] if extra else []) + lines
    return text + "\n  " + "\n  ".join(body) + "\n)"


def _annotated(module):
    hook = findBlock(module)
    return (f"{hook} " if hook else "") + module_repr(module)


def _indent(text):
    return text.replace("\n", "\n  ")
