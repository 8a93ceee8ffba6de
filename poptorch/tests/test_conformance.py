# Every row of the operator tests in the other executors.
import os
import subprocess
import sys
from pathlib import Path

import pytest

_MODULES = sorted(Path(__file__).parent.glob("test_conformance_*.py"))


@pytest.mark.parametrize("module", _MODULES, ids=lambda path: path.stem)
def test_allRowsInReference(module):
    """The executor is chosen once per process, so the others have their own."""
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", str(module),
         "-p", "no:cacheprovider"],
        env={**os.environ, "ASPEN_EXECUTOR": "reference"},
        capture_output=True, text=True,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout[-4000:]
