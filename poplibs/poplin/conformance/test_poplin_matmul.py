"""Matrix products."""

import numpy as np
import pytest
from conformance import Case, check, values

ROWS = [
    Case("poplin.matMul", {"a": values(m, k, dtype=t),
                           "b": values(k, n, dtype=t, seed=1)},
         expected=lambda t: t["a"] @ t["b"], tolerance=tolerance)
    for t, tolerance in ((np.float32, 1e-5), (np.float16, 5e-3))
    for m, k, n in ((1, 1, 1), (3, 5, 7), (16, 32, 8), (17, 1, 33))
] + [
    Case("poplin.matMul", {"a": values(3, 4), "b": values(5, 6)},
         error=("poplibs_error", "Second dimension of first operand")),
]


@pytest.mark.parametrize("case", ROWS, ids=str)
def test_conforms(case):
    check(case)
