"""Networks trained in pipelines, shards and phases have the values that they
have without. RANDOM_PIPELINES tells how many."""

import os

import pytest

from .generate import Case
from .run import failure

COUNT = int(os.environ.get("RANDOM_PIPELINES", "30"))
CHUNK = 5


@pytest.mark.parametrize("first", range(0, COUNT, CHUNK))
def test_ways(first):
    for seed in range(first, min(first + CHUNK, COUNT)):
        case = Case(seed)
        # The reference executor takes its time.
        executor = "reference" if seed % 5 == 0 else "fast"
        assert failure(case, executor) == "", case
