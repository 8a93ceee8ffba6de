"""Where the operators' conformance tests find the runner and its module."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "popart/conformance"),
                str(ROOT / "build/release/conformance")]
