# Which tracer is at work: what the user's code calls asks here.
import contextlib

from torch.utils._mode_utils import no_dispatch

_active = []


def activeTracer():
    """The tracer that is at work, or None."""
    return _active[-1] if _active else None


@contextlib.contextmanager
def activated(tracer):
    _active.append(tracer)
    try:
        yield tracer
    finally:
        _active.pop()


@contextlib.contextmanager
def suspendTracing():
    """Inside, torch computes as if no model were being traced."""
    with activated(None), no_dispatch():
        yield
