# MultiConv: convolutions that may be planned as one.
import torch

from . import enums
from ._errors import createPoptorchError

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
        self._proportions = [float(v) for v in _listed(value)]
        return self

    def partialsTypes(self, value):
        for dtype in _listed(value):
            if dtype not in _PARTIALS:
                raise ValueError(
                    "partialsTypes takes torch.float32 and torch.float16, "
                    f"not {dtype}"
                )
        self._partials = [_PARTIALS[v] for v in _listed(value)]
        return self

    def enableConvDithering(self, value):
        self._dithering = [int(v) for v in _listed(value)]
        return self

    def planType(self, value):
        if not isinstance(value, enums.MultiConvPlanType):
            raise ValueError("planType takes a poptorch.MultiConvPlanType")
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
        torch.ops.poptorch.begin_multi_conv()
        return self

    def __exit__(self, *exception):
        MultiConv._is_entered = False
        torch.ops.poptorch.end_multi_conv(
            self._proportions, self._partials, self._plan,
            self._reserved_tiles, self._cycle_back_off, self._dithering,
        )  # fmt: skip


def _listed(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]
