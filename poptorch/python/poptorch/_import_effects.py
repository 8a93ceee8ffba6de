# What importing PopTorch changes in the process.
import faulthandler
import signal
import subprocess
import sys
import traceback

import torch
from tqdm import tqdm

from ._logging import logger
from ._traced_tensor import TracedTensor


def apply():
    """Called once, by the package."""
    _dumpTracebacksOnSignals()
    _logUncaughtExceptions()
    _printTracedTensors()
    # A lock shared with a worker process could deadlock.
    tqdm.get_lock().locks = []


def _dumpTracebacksOnSignals():
    try:
        faulthandler.enable()
        faulthandler.register(signal.SIGTERM, chain=True)
    except (AttributeError, ValueError, OSError):
        pass  # stderr is not a file, as under pytest


def _logUncaughtExceptions():
    previous = sys.excepthook

    def hook(kind, value, trace):
        if issubclass(kind, KeyboardInterrupt):
            previous(kind, value, trace)
            return
        text = "".join(traceback.format_exception(kind, value, trace))
        if isinstance(value, subprocess.CalledProcessError):
            text += f"\nstderr: {value.stderr}\nstdout: {value.stdout}"
        logger.critical("%s\n%s", value, text)

    sys.excepthook = hook


def _printTracedTensors():
    original = torch._tensor_str._str

    def show(tensor, *, tensor_contents=None):
        if isinstance(tensor, TracedTensor):
            return TracedTensor.__repr__(tensor)
        return original(tensor, tensor_contents=tensor_contents)

    torch._tensor_str._str = show
