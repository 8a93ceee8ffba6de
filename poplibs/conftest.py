"""Where the conformance tests find the runner and the module under it."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "poplibs/testing"),
                str(ROOT / "build/release/conformance")]
