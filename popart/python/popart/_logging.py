"""PopART's loggers: one for each module, with a level and one destination.

POPART_LOG_LEVEL, POPART_LOG_DEST and POPART_LOG_CONFIG set them up.
"""
import json
import os
import sys
import threading
from datetime import datetime, timezone

_LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERR", "CRITICAL", "OFF")
_MODULES = ("popart", "session", "ir", "devicex", "transform", "pattern",
            "builder", "op", "opx", "ces", "python", "none")
_ALIASES = {"ERROR": "ERR", "WARNING": "WARN"}


def _level(name: str) -> int:
    known = _ALIASES.get(name.upper(), name.upper())
    if known not in _LEVELS:
        from .popart_core import popart_exception
        raise popart_exception(
            f"Unknown log level '{name}'; levels are {', '.join(_LEVELS)}")
    return _LEVELS.index(known)


def _write(line: str) -> None:
    destination = os.environ.get("POPART_LOG_DEST", "stderr")
    if destination in ("stdout", "stderr"):
        print(line, file=getattr(sys, destination))
    else:
        with open(destination, "a") as file:
            print(line, file=file)


class Logger:
    """`name` is a module, or "all" for every one."""

    _levels = {}

    def __init__(self, name: str):
        self._name = name

    def setLevel(self, level: str) -> None:
        value = _level(level)
        for name in _MODULES if self._name == "all" else (self._name,):
            Logger._levels[name] = value

    def _log(self, level: str, message: str) -> None:
        name = "popart" if self._name == "all" else self._name
        if _LEVELS.index(level) < Logger._levels[name]:
            return
        time = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")
        _write(f"{time}Z popart:{name} {os.getpid()}."
               f"{threading.get_native_id()} {level[0]}: {message}")

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
    if name != "all":
        Logger._levels.setdefault(name, _level("OFF"))
    return Logger(name)


def _setUp() -> None:
    getLogger("all").setLevel(os.environ.get("POPART_LOG_LEVEL", "OFF"))
    file = os.environ.get("POPART_LOG_CONFIG")
    if file:
        with open(file) as stream:
            for name, level in json.load(stream).items():
                getLogger(name).setLevel(level)


_setUp()
