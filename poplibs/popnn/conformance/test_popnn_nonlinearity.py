"""Non-linearities."""

import numpy as np
import pytest
import torch
from conformance import Case, check, values

ROWS = [
    Case("popnn.softmax", {"in": values(*shape, dtype=t)},
         expected=lambda t: torch.softmax(torch.tensor(t["in"]), -1).numpy())
    for t in (np.float32, np.float16)
    for shape in ((1, 1), (3, 10), (2, 33), (130, 7))
]


@pytest.mark.parametrize("case", ROWS, ids=str)
def test_conforms(case):
    check(case)
