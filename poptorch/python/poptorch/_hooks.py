# Functions that the user wants called before and after every trace.
import collections
import contextlib

from torch.utils.hooks import RemovableHandle

_before = collections.OrderedDict()
_after = collections.OrderedDict()


def registerPreCompileHook(hook):
    """Calls hook() before a model is traced, until the handle is removed."""
    return _register(_before, hook, "Pre")


def registerPostCompileHook(hook):
    """Calls hook() after a model is traced, until the handle is removed."""
    return _register(_after, hook, "Post")


@contextlib.contextmanager
def aroundCompilation():
    """Calls the hooks around what is inside."""
    for hook in list(_before.values()):
        hook()
    yield
    for hook in list(_after.values()):
        hook()


def _register(hooks, hook, kind):
    if not callable(hook):
        raise RuntimeError(f"{kind}-compile hook must be callable")
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle
