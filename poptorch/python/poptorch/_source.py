# Where in the user's program a torch operator was called.
import sys
from pathlib import Path

import torch

# Frames of these packages are not the user's.
_PACKAGES = tuple(
    str(Path(file).parent) for file in (__file__, torch.__file__)
)


def callingLine():
    """"file:line" of the innermost frame outside torch and poptorch; empty if
    there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_PACKAGES):
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""
