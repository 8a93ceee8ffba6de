# MultiConv: convolutions that may be planned as one.
import torch

from . import enums
from ._active_tracer import activeTracer
from ._errors import createPoptorchError
from ._proportions import checkedProportion

_PARTIALS = {torch.float32: 0, torch.float16: 1}


class MultiConv:
    """The convolutions inside are merged: `with poptorch.MultiConv(): ...`. The
    values are those of separate convolutions."""

    _is_entered = False

    def __init__(self):
        self._proportions = None
        self._partials = None
        self._dithering = None
        self._plan = None
        self._reserved_tiles = None
        self._cycle_back_off = None

    def availableMemoryProportions(self, value):
        """One for all convolutions, or a list of one for each."""
        self._proportions = [
            checkedProportion("MultiConv", v) for v in _listed(value)
        ]
        return self

    def partialsTypes(self, value):
        for dtype in _listed(value):
            if dtype not in _PARTIALS:
                raise ValueError(
                    "Invalid partials types: they are torch.float32 or "
                    f"torch.float16, not {dtype}"
                )
        self._partials = [_PARTIALS[v] for v in _listed(value)]
        return self

    def enableConvDithering(self, value):
        self._dithering = [int(v) for v in _listed(value)]
        return self

    def planType(self, value):
        assert isinstance(value, enums.MultiConvPlanType), (
            "Invalid plan type: it is a poptorch.MultiConvPlanType, not "
            f"{value!r}"
        )
        self._plan = value.value
        return self

    def perConvReservedTiles(self, value):
        self._reserved_tiles = int(value)
        return self

    def cycleBackOff(self, value):
        self._cycle_back_off = float(value)
        return self

    def __enter__(self):
        if MultiConv._is_entered:
            raise createPoptorchError(
                "Nested poptorch.MultiConv is not supported."
            )
        MultiConv._is_entered = True
        self._convolutions_before = _convolutions()
        torch.ops.poptorch.begin_multi_conv()
        return self

    def __exit__(self, kind, *exception):
        MultiConv._is_entered = False
        is_empty = _convolutions() == self._convolutions_before
        if is_empty and kind is None and activeTracer() is not None:
            raise createPoptorchError(
                "Unexpected end_multi_conv: there is no convolution inside "
                "poptorch.MultiConv"
            )
        torch.ops.poptorch.end_multi_conv(
            self._proportions, self._partials, self._plan,
            self._reserved_tiles, self._cycle_back_off, self._dithering,
        )  # fmt: skip


def _convolutions():
    """How many were traced so far."""
    tracer = activeTracer()
    calls = tracer.bodies.calls() if tracer else []
    return sum("conv" in call[0] for call in calls)


def _listed(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]
