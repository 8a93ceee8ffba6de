# Trace points for the system analyser; they do nothing unless PVTI_OPTIONS is set
# and libpvti can be imported.
import contextlib
import functools
import os


def _library():
    if not os.environ.get("PVTI_OPTIONS"):
        return None
    try:
        import libpvti
    except ImportError:
        return None
    return libpvti


class Channel:
    """A named row of trace points."""

    def __init__(self, name):
        self._library = _library()
        if self._library is not None:
            self._channel = self._library.createTraceChannel(name)

    def tracepoint(self, name):
        if self._library is None:
            return contextlib.nullcontext()
        return self._library.Tracepoint(self._channel, name)

    def instrument(self, obj, *methods):
        """Puts a trace point around each named method of an object."""
        if self._library is None:
            return
        for method in methods:
            function = getattr(obj, method)
            setattr(obj, method, self._wrapped(function, method))

    def _wrapped(self, function, name):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with self.tracepoint(name):
                return function(*args, **kwargs)

        return wrapper
