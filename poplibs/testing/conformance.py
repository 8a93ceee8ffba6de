"""Runs rows of conformance tables: an operation of the libraries against NumPy
or PyTorch.

A row is a Case; check() runs it through the reference executor and the fast one,
with inputs that are whole variables, transposed views and concatenations, and
compares type, shape and values. Results must have the same bits at one and at two
threads. A Case with `error` must end in that error instead.
"""

import os
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping
from unittest import mock

import numpy as np
import poplibs_conformance as module

TYPES = {
    "bool": np.bool_, "char": np.int8, "signed char": np.int8,
    "unsigned char": np.uint8, "short": np.int16,
    "unsigned short": np.uint16, "int": np.int32, "unsigned int": np.uint32,
    "long long": np.int64, "unsigned long long": np.uint64,
    "quarter": np.uint8, "half": np.float16, "float": np.float32,
}
NAMES = {np.dtype(dtype): name for name, dtype in TYPES.items()
         if name not in ("char", "quarter")}

# Relative and absolute, where a row does not say: results are float, rounded
# to half where they are half.
TOLERANCE = {"float": 1e-5, "half": 2e-3}

PLAIN, TRANSPOSED, CONCATENATED = VIEWS = "plain", "transposed", "concatenated"


@dataclass
class Case:
    """One row. `expected` gets the inputs as a dictionary of arrays, half ones
    as float32, and returns a dictionary of results, or one array for "out"."""

    operation: str
    inputs: Mapping[str, np.ndarray]
    params: Mapping[str, Any] = field(default_factory=dict)
    expected: Callable[[dict], Any] | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    tolerance: float | None = None
    # Types of results that differ from the type of the first input.
    types: Mapping[str, str] = field(default_factory=dict)
    input_types: Mapping[str, str] = field(default_factory=dict)
    views: tuple[str, ...] = VIEWS
    error: tuple[str, str] | None = None  # type, and a part of the message
    tiles: int = 16
    # With several, inputs and results have the replica as their first
    # dimension; views are plain.
    replicas: int = 1
    name: str = ""

    def __str__(self):
        shapes = ",".join(
            "x".join(map(str, np.shape(value))) + f":{np.asarray(value).dtype}"
            for value in self.inputs.values())
        params = ",".join(f"{k}={v}" for k, v in self.params.items())
        return " ".join(filter(None, (self.operation, self.name, shapes, params)))


def is_one_variable(array: np.ndarray, view: str) -> bool:
    """Whether the view of an array is no other than the plain one."""
    if view == TRANSPOSED:
        return array.ndim < 2
    return view == PLAIN or array.ndim == 0 or max(array.shape, default=0) < 2


def as_input(array: np.ndarray, view: str, type_name: str):
    permutation, parts, axis = [], [array], 0
    if not is_one_variable(array, view):
        if view == TRANSPOSED:
            permutation = list(range(array.ndim))[::-1]
            parts = [array.transpose()]
        else:
            axis = int(np.argmax(array.shape))
            parts = np.split(array, [array.shape[axis] // 2], axis)
    return module.Input(type_name, [np.ascontiguousarray(p).reshape(p.shape)
                                    for p in parts], axis, permutation)


def run(case: Case, view: str, executor: str, threads: int) -> dict:
    """The results by name, as (type, array)."""
    inputs = {}
    for name, value in case.inputs.items():
        array = np.asarray(value)
        inputs[name] = as_input(
            array, view, case.input_types.get(name) or NAMES[array.dtype])
    environment = {"ASPEN_EXECUTOR": executor, "ASPEN_THREADS": str(threads)}
    with mock.patch.dict(os.environ, environment):
        results = module.run(case.operation, inputs, dict(case.params),
                             dict(case.options), case.tiles, case.replicas)
    return {name: (type_name, np.frombuffer(data, TYPES[type_name]).reshape(shape))
            for name, (type_name, shape, data) in results.items()}


def expectation(case: Case) -> dict:
    inputs = {}
    for name, value in case.inputs.items():
        array = np.asarray(value)
        inputs[name] = (array.astype(np.float32)
                        if array.dtype == np.float16 else array)
    with np.errstate(all="ignore"):
        expected = case.expected(inputs)
    return expected if isinstance(expected, dict) else {"out": expected}


def compare(case: Case, results: dict, expected: dict, what: str):
    assert set(results) >= set(expected), f"{what}: results {set(results)}"
    first = np.asarray(next(iter(case.inputs.values()), np.float32(0)))
    for name, wanted in expected.items():
        type_name, found = results[name]
        wanted_type = case.types.get(name) or NAMES[first.dtype]
        wanted = np.asarray(wanted)
        assert type_name == wanted_type, f"{what}: '{name}' is {type_name}"
        assert found.shape == wanted.shape, f"{what}: '{name}' is {found.shape}"
        where = f"{what}: '{name}'"
        if type_name in TOLERANCE:
            tolerance = (TOLERANCE[type_name] if case.tolerance is None
                         else case.tolerance)
            if type_name == "half":
                with np.errstate(over="ignore"):
                    wanted = wanted.astype(np.float16)  # may round to infinity
            np.testing.assert_allclose(
                found.astype(np.float64), wanted.astype(np.float64),
                rtol=tolerance, atol=tolerance, err_msg=where)
        else:
            np.testing.assert_array_equal(found, wanted, err_msg=where)


def check_error(case: Case):
    kind, text = case.error
    try:
        run(case, PLAIN, "reference", 1)
    except module.OperationError as error:
        message = str(error)
        assert message.startswith(f"{kind}: "), message
        assert text in message, message
        return
    raise AssertionError(f"no {kind}")


def same_bits(a: dict, b: dict) -> bool:
    return all(a[name][1].tobytes() == b[name][1].tobytes() for name in a)


def check(case: Case):
    if case.error:
        check_error(case)
        return
    expected = expectation(case)
    for view in case.views:
        if view != PLAIN and all(is_one_variable(np.asarray(value), view)
                                 for value in case.inputs.values()):
            continue
        fast = run(case, view, "fast", 1)
        compare(case, fast, expected, f"fast, {view}")
        assert same_bits(fast, run(case, view, "fast", 2)), f"{view}: threads"
        if view == PLAIN:
            compare(case, run(case, view, "reference", 1), expected, "reference")


def torch_gradients(function, inputs: Mapping[str, np.ndarray], seed) -> dict:
    """The gradients of sum(seed * function(inputs)) by PyTorch, by name."""
    import torch

    tensors = {name: torch.tensor(np.asarray(value), requires_grad=True)
               for name, value in inputs.items()}
    (function(**tensors) * torch.tensor(np.asarray(seed))).sum().backward()
    return {name: tensor.grad.numpy() for name, tensor in tensors.items()}


def values(*shape: int, dtype=np.float32, seed: int = 0, low=-2.0, high=2.0):
    """Numbers that differ from each other, the same in every run."""
    generator = np.random.default_rng([seed, *shape])
    if np.issubdtype(dtype, np.floating):
        return generator.uniform(low, high, shape).astype(dtype)
    if dtype == np.bool_:
        return generator.integers(0, 2, shape).astype(dtype)
    info = np.iinfo(dtype)
    return generator.integers(max(int(low) * 10, info.min),
                              min(int(high) * 10, info.max), shape).astype(dtype)
