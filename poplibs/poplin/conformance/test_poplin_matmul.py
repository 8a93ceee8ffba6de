"""Matrix products in all their forms, against NumPy."""

import numpy as np
import pytest
from conformance import Case, check, values

# Rows, depth, columns: empty, single, odd, whole vectors, long and thin.
SIZES = [(1, 1, 1), (3, 5, 7), (16, 32, 8), (17, 1, 33), (1, 300, 1),
         (65, 64, 130), (2, 0, 3), (0, 2, 3), (2, 3, 0)]
# Relative to sums of terms of up to 4: half results are rounded once.
TOLERANCE = {np.float32: 2e-5, np.float16: 2e-3}


def operands(m, k, n, groups=(), dtype=np.float32):
    return {"a": values(*groups, m, k, dtype=dtype),
            "b": values(*groups, k, n, dtype=dtype, seed=1)}


def product(t):
    return t["a"].astype(np.float64) @ t["b"].astype(np.float64)


def accumulated(k):
    return lambda t: t["c"] + k * product(t)


ROWS = [
    Case(operation, operands(*size, dtype=dtype), expected=product,
         tolerance=TOLERANCE[dtype])
    for operation in ("poplin.matMul", "poplin.matMulOfOneType",
                      "poplin.matMulWithOutput")
    for dtype in (np.float32, np.float16)
    for size in SIZES
] + [
    Case(operation, operands(*size, groups=(groups,), dtype=dtype),
         expected=product, tolerance=TOLERANCE[dtype])
    for operation in ("poplin.matMulGrouped", "poplin.matMulGroupedWithOutput")
    for dtype in (np.float32, np.float16)
    for size in SIZES[:5]
    for groups in (1, 3, 17, 0)
] + [
    # Sums of half operands that a half cannot hold.
    Case("poplin.matMul", operands(5, 200, 6, dtype=np.float16),
         {"outputType": "float"}, product, types={"out": "float"},
         tolerance=1e-5),
    Case("poplin.matMul", operands(5, 200, 6), {"outputType": "half"}, product,
         types={"out": "half"}),
    Case("poplin.matMulGrouped", operands(5, 20, 6, (2,), np.float16),
         {"outputType": "float"}, product, types={"out": "float"}),
] + [
    Case("poplin.matMulAcc",
         {**operands(3, 5, 4, groups, dtype),
          "c": values(*groups, 3, 4, dtype=dtype, seed=2), **k_input},
         k_param, accumulated(-0.5), tolerance=5 * TOLERANCE[dtype])
    for groups in ((), (2,))
    for dtype in (np.float32, np.float16)
    for k_input, k_param in (({}, {"k": -0.5}), ({"k": dtype(-0.5)}, {}))
] + [
    Case("poplin.preArrange", operands(3, 5, 4, groups), expected=product)
    for groups in ((), (2,))
] + [
    Case("poplin.transposeGroupedMatrix", {"a": values(2, 3, 4)},
         expected=lambda t: np.swapaxes(t["a"], 1, 2)),
] + [
    Case("poplin.matMul", operands(6, 8, 5), expected=product,
         options={name: value})
    for name, value in [
        ("availableMemoryProportion", "0.1"), ("partialsType", "half"),
        ("fullyConnectedPass", "TRAINING_BWD"), ("enableFastReduce", "true"),
        ("inputRHSIsPreArranged", "true"), ("use128BitConvUnitLoad", "true"),
        ("enableMultiStageReduce", "false"), ("remapOutputTensor", "false"),
        ("planConstraints", "{}")]
] + [
    Case(operation, {"a": values(*a), "b": values(*b)},
         error=("poplibs_error", text))
    for operation, a, b, text in [
        ("poplin.matMul", (3, 4), (5, 6), "Second dimension of first operand to "
         "matrix multiplication does not match first dimension of second "
         "operand."),
        ("poplin.matMul", (3, 4, 5), (5, 6),
         "Operand to matrix multiplication is not a matrix."),
        ("poplin.matMulGrouped", (3, 4), (4, 6),
         "Operand to matrix multiplication is not a grouped matrix."),
        ("poplin.matMulGrouped", (2, 3, 4), (3, 4, 5), "First dimension of first "
         "operand to matrix multiplication does not match first dimension of "
         "second operand."),
        ("poplin.matMulGrouped", (2, 3, 4), (2, 3, 5), "Third dimension of first "
         "operand to matrix multiplication does not match second dimension of "
         "second operand."),
        ("poplin.transposeGroupedMatrix", (3, 4), (1, 1), "not a grouped matrix"),
    ]
] + [
    Case("poplin.matMulAcc", {**operands(3, 4, 5), "c": values(3, 4)}, {"k": 1.0},
         error=("poplibs_error", "'C' has shape {3,4}; the product has {3,5}")),
    Case("poplin.matMulWithOutput", {**operands(3, 4, 5), "out": values(5, 3)},
         error=("poplibs_error", "'out' has shape {5,3}; the product has {3,5}")),
    Case("poplin.matMul", {"a": values(2, 2), "b": values(2, 2, dtype=np.float16)},
         error=("poplibs_error", "b has type half; allowed: float")),
    Case("poplin.matMul", {"a": values(2, 2, dtype=np.int32),
                           "b": values(2, 2, dtype=np.int32)},
         error=("poplibs_error", "a has type int")),
    Case("poplin.matMul", operands(1, 1, 1), options={"partialType": "half"},
         error=("invalid_option", "Unrecognised option 'partialType'")),
    Case("poplin.matMul", operands(1, 1, 1), options={"partialsType": "int"},
         error=("invalid_option", "Invalid value 'int' for option "
                "'partialsType': Not one of the values: ['half', 'float']")),
    Case("poplin.matMul", operands(1, 1, 1),
         options={"availableMemoryProportion": "much"},
         error=("invalid_option", "Not a floating point number")),
]


@pytest.mark.parametrize("case", ROWS, ids=str)
def test_conforms(case):
    check(case)
