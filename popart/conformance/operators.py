"""Runs rows of the operators' tables: an operator of PopART against NumPy or
PyTorch.

A row is a Case; check() builds a model of that one operator, runs it through the
reference executor and the fast one and compares types, shapes and values. Where
PyTorch gives the expectation, gradients of a weighted sum of the outputs are
compared too. A Case with `error` must end in popart::error instead.
"""

import os
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Sequence
from unittest import mock

import numpy as np
import popart_conformance as module
import torch

# Relative and absolute, where a row does not say.
TOLERANCE = {np.dtype(np.float32): 1e-5, np.dtype(np.float16): 4e-3}


@dataclass
class Case:
    """One row. `expected` gets the inputs (None where one is left out) as NumPy
    arrays, or as tensors where `uses_torch` is set, half ones as float32; it
    returns one result or a tuple of them. `constants` are the inputs, by
    position, that must be known at compile time; `differentiated` are those
    whose gradients are compared (all float ones where PyTorch is asked)."""

    operator: str
    version: int
    inputs: Sequence[np.ndarray | None]
    expected: Callable[..., Any] | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    constants: Sequence[int] = ()
    uses_torch: bool = True
    differentiated: Sequence[int] | None = None
    tolerance: float | None = None
    outputs: int = 1
    domain: str = "ai.onnx"
    types: Sequence[type] | None = None  # of the outputs; None: as the first input
    error: str | None = None
    name: str = ""

    def __str__(self):
        shapes = ",".join(
            "-" if a is None else
            "x".join(map(str, a.shape)) + f":{a.dtype}" for a in self.inputs)
        attributes = ",".join(f"{k}={v}" for k, v in self.attributes.items())
        return " ".join(filter(None, (f"{self.operator}-{self.version}",
                                      self.name, shapes, attributes)))


def is_float(array) -> bool:
    return array is not None and array.dtype in TOLERANCE


def differentiated(case: Case) -> list[int]:
    if case.differentiated is not None:
        return list(case.differentiated)
    if not case.uses_torch:
        return []
    return [i for i, array in enumerate(case.inputs)
            if is_float(array) and i not in case.constants]


def weights_for(array: np.ndarray, index: int) -> np.ndarray:
    generator = np.random.default_rng(index)
    return generator.uniform(-1, 1, array.shape).astype(array.dtype)


def run(case: Case, executor: str, weights=()) -> list[np.ndarray]:
    wanted = differentiated(case) if weights else []
    inputs = [module.Input(array, i in case.constants, i in wanted)
              for i, array in enumerate(case.inputs)]
    operator = module.Operator(case.domain, case.operator, case.version, inputs,
                               dict(case.attributes), case.outputs)
    with mock.patch.dict(os.environ, {"ASPEN_EXECUTOR": executor}):
        return module.run(operator, list(weights))


def widened(array: np.ndarray | None):
    return (array.astype(np.float32)
            if array is not None and array.dtype == np.float16 else array)


def as_tuple(results) -> tuple:
    return tuple(results) if isinstance(results, (tuple, list)) else (results,)


def expectation(case: Case) -> tuple[list[np.ndarray], Callable]:
    """The outputs, and what gives the gradients for weights of the outputs."""
    inputs = [widened(array) for array in case.inputs]
    if not case.uses_torch:
        with np.errstate(all="ignore"):
            results = as_tuple(case.expected(*inputs))
        return [np.asarray(r) for r in results], lambda weights: []
    tensors = [None if a is None else torch.tensor(a) for a in inputs]
    wanted = differentiated(case)
    for i in wanted:
        tensors[i].requires_grad_()
    results = as_tuple(case.expected(*tensors))

    def gradients(weights):
        loss = sum((r * torch.tensor(widened(w))).sum()
                   for r, w in zip(results, weights) if w is not None)
        loss.backward()
        return [np.zeros(tensors[i].shape, np.float32)
                if tensors[i].grad is None else tensors[i].grad.numpy()
                for i in wanted]

    return [r.detach().numpy() for r in results], gradients


def compare(case: Case, found: np.ndarray, wanted: np.ndarray, what: str):
    assert found.shape == wanted.shape, f"{what} is {found.shape}"
    if not is_float(found):
        np.testing.assert_array_equal(found, wanted, err_msg=what)
        return
    tolerance = case.tolerance or TOLERANCE[found.dtype]
    if found.dtype == np.float16:
        tolerance = max(tolerance, TOLERANCE[found.dtype])
        with np.errstate(over="ignore"):
            wanted = wanted.astype(np.float16)
    np.testing.assert_allclose(found.astype(np.float64),
                               wanted.astype(np.float64),
                               rtol=tolerance, atol=tolerance, err_msg=what)


def check_error(case: Case):
    try:
        run(case, "reference")
    except module.error as error:
        assert case.error in str(error), str(error)
        return
    raise AssertionError("no popart::error")


def check(case: Case):
    if case.error is not None:
        check_error(case)
        return
    outputs, gradients_for = expectation(case)
    first = next((a for a in case.inputs if a is not None), None)
    types = case.types or [first.dtype] * len(outputs)
    outputs = [o if np.dtype(t) in TOLERANCE else o.astype(t)
               for o, t in zip(outputs, types)]
    weights, gradients = (), []
    if differentiated(case):
        weights = [weights_for(o.astype(t), i) if np.dtype(t) in TOLERANCE
                   else None for i, (o, t) in enumerate(zip(outputs, types))]
        gradients = gradients_for(weights)
    for executor in ("reference", "fast"):
        results = run(case, executor)
        for i, (found, wanted) in enumerate(zip(results, outputs)):
            assert found.dtype == np.dtype(types[i]), f"output {i}: {found.dtype}"
            compare(case, found, wanted, f"{executor}, output {i}")
        if not weights:
            continue
        results = run(case, executor, weights)[case.outputs:]
        for i, found, wanted in zip(differentiated(case), results, gradients):
            compare(case, found, wanted, f"{executor}, gradient of input {i}")


def values(*shape: int, dtype=np.float32, seed: int = 0, low=-2.0, high=2.0):
    """Numbers that differ from each other, the same in every run."""
    generator = np.random.default_rng([seed, *shape])
    if np.issubdtype(dtype, np.floating):
        return generator.uniform(low, high, shape).astype(dtype)
    if dtype == np.bool_:
        return generator.integers(0, 2, shape).astype(dtype)
    low = 0 if np.issubdtype(dtype, np.unsignedinteger) else int(low) * 10
    return generator.integers(low, int(high) * 10, shape).astype(dtype)


def ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)
