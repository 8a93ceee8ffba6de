# Which tracer is at work: what the user's code calls asks here.
import contextlib

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
