"""Element-wise operations and casts."""

import numpy as np
import pytest
from conformance import Case, check, values

ROWS = [
    Case("popops.add", {"a": values(*shape, dtype=t),
                        "b": values(*shape, dtype=t, seed=1)},
         expected=lambda t: t["a"] + t["b"])
    for t in (np.float32, np.float16, np.int32)
    for shape in ((0,), (1,), (7,), (3, 5), (2, 3, 4), (1, 130))
] + [
    Case("popops.add", {"a": values(4, 1), "b": values(3, seed=1)},
         expected=lambda t: t["a"] + t["b"], name="broadcast"),
    Case("popops.add", {"a": values(4, 2), "b": values(3)},
         error=("poplibs_error", "Cannot broadcast tensors to match dimension")),
] + [
    Case("popops.cast", {"in": values(3, 5, dtype=a)}, {"type": name},
         lambda t, b=b: t["in"].astype(b), types={"out": name})
    for a in (np.float32, np.float16, np.int32)
    for name, b in (("float", np.float32), ("half", np.float16),
                    ("int", np.int32))
]


@pytest.mark.parametrize("case", ROWS, ids=str)
def test_conforms(case):
    check(case)
