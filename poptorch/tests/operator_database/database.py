"""Loads torch's operator database and says which of its samples there are."""

import functools
import random
import sys
import types
import unittest
import warnings
from dataclasses import dataclass

import torch
from torch.utils._pytree import tree_flatten

# What a sample is run for, with the types of its numbers.
FORWARD = {"float": torch.float32, "int": torch.int32, "bool": torch.bool,
           "half": torch.float16}  # fmt: skip
GRADIENT = "gradient"
MODES = (*FORWARD, GRADIENT)


def _load():
    if "expecttest" not in sys.modules:
        try:
            import expecttest  # noqa: F401
        except ModuleNotFoundError:
            # torch's test utilities derive a class from it, which nobody uses.
            stand_in = types.ModuleType("expecttest")
            stand_in.TestCase = unittest.TestCase
            stand_in.ACCEPT = False
            sys.modules["expecttest"] = stand_in
    from torch.testing._internal.common_methods_invocations import op_db

    return {
        entry.name + ("." + entry.variant_test_name).rstrip("."): entry
        for entry in op_db
        # For CUDA's compiler, and as good as only for it.
        if not entry.name.startswith("jiterator")
    }


ENTRIES = _load()


@dataclass(frozen=True)
class Case:
    """One sample of one entry."""

    entry: str
    mode: str
    index: int

    def __str__(self):
        return f"{self.entry}:{self.mode}:{self.index}"

    @staticmethod
    def parse(text):
        entry, mode, index = text.rsplit(":", 2)
        return Case(entry, mode, int(index))


def isApplicable(tensor):
    """Whether a tensor is one that the device could have: those of no elements
    are refused by the SDK itself."""
    return not (tensor.is_complex() or tensor.layout != torch.strided
                or tensor.is_quantized or tensor.numel() == 0)  # fmt: skip


@functools.lru_cache(maxsize=1)
def samplesOf(name, mode):
    """The samples of an entry in a mode: the same ones whenever asked."""
    entry = ENTRIES[name]
    is_gradient = mode == GRADIENT
    dtype = FORWARD["float" if is_gradient else mode]
    if dtype not in entry.dtypes or is_gradient and not entry.supports_autograd:
        return []
    torch.manual_seed(7)
    random.seed(7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(
            entry.sample_inputs("cpu", dtype, requires_grad=is_gradient)
        )


def casesOf(name, limit=None):
    """All cases of an entry; with a limit only so many of each mode, evenly
    spread."""
    for mode in MODES:
        places = range(len(samplesOf(name, mode)))
        if limit is not None and len(places) > limit:
            places = [len(places) * i // limit for i in range(limit)]
        for index in places:
            yield Case(name, mode, index)


def tensorsIn(value):
    return [v for v in tree_flatten(value)[0] if isinstance(v, torch.Tensor)]
