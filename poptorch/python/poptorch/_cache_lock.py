# Processes that train one model together compile it once: the first does, the
# others find it in the cache.
import contextlib
import fcntl
import hashlib
import os

from ._logging import logger


@contextlib.contextmanager
def distributedCacheLock(model, options):
    """Inside, no other process compiles this model with this cache."""
    if options.Distributed.numProcesses == 1:
        yield
        return
    popart = options._Popart.options
    if not popart.get("enableEngineCaching") or not popart.get("cachePath"):
        logger.warning(
            "Every process compiles the model for itself. Use "
            "poptorch.Options.enableExecutableCaching() to compile it once."
        )
        yield
        return
    name = hashlib.md5(repr(model).encode()).hexdigest() + ".lock"
    with contextlib.ExitStack() as stack:
        try:
            os.makedirs(popart["cachePath"], exist_ok=True)
            path = os.path.join(popart["cachePath"], name)
            file = stack.enter_context(open(path, "w"))
            fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed
        except OSError as error:
            logger.warning(
                "Every process compiles the model for itself, as the cache "
                "cannot be locked: %s", error,
            )  # fmt: skip
        yield
