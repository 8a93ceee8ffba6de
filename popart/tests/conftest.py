"""Makes the package of the build importable, wherever pytest is started."""
import os
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_BUILD = Path(os.environ.get("ASPEN_BUILD", _ROOT / "build"))
sys.path.insert(0, str(_BUILD / "python"))


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch):
    """Tests start from the defaults."""
    for name in ("POPART_CACHE_DIR", "POPXL_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
