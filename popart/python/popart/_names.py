"""The prefixes of tensor names that PopART makes itself, as functions."""
from . import popart_core


def _define(name: str, prefix: str) -> str:
    def function() -> str:
        return prefix

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"'{prefix}'"
    globals()[name] = function
    return name


__all__ = [_define(f"reserved{name}Prefix", prefix)
           for name, prefix in popart_core._reservedPrefixes().items()]
