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
        if _isUsers(frame):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def raisingLine(error):
    """The same of where an exception came from."""
    line = ""
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        if _isUsers(frame):
            line = f"{frame.f_code.co_filename}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return line


def _isUsers(frame):
    return not frame.f_code.co_filename.startswith(_PACKAGES)
