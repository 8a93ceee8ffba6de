"""PopART's loggers: one for each module, with a level and one destination.

POPART_LOG_LEVEL, POPART_LOG_DEST, POPART_LOG_CONFIG and POPART_LOG_FORMAT set
them up; sessions write to the same log.
"""
from . import popart_core

_ALIASES = {"ERROR": "ERR", "WARNING": "WARN"}


class Logger:
    """`name` is a module, or "all" for every one."""

    def __init__(self, name: str):
        self._name = name

    def setLevel(self, level: str) -> None:
        popart_core._setLogLevel(self._name,
                                 _ALIASES.get(level.upper(), level.upper()))

    def _log(self, level: str, message: str) -> None:
        popart_core._log("popart" if self._name == "all" else self._name,
                         level, message)

    def debug(self, message: str) -> None:
        self._log("DEBUG", message)

    def info(self, message: str) -> None:
        self._log("INFO", message)

    def warn(self, message: str) -> None:
        self._log("WARN", message)

    def error(self, message: str) -> None:
        self._log("ERR", message)

    def critical(self, message: str) -> None:
        self._log("CRITICAL", message)


def getLogger(name: str = "all") -> Logger:
    return Logger(name)
