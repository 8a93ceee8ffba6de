# The logger `poptorch::python` and its levels.
import logging
import os
import sys

from ._errors import createPoptorchError

TRACE = 5
OFF = 100
_LEVELS = {
    "TRACE_ALL": TRACE,
    "TRACE": TRACE,
    "DEBUG_IR": logging.DEBUG,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERR": logging.ERROR,
    "OFF": OFF,
}
_BY_NUMBER = {0: "TRACE", 1: "DEBUG", 2: "INFO", 3: "WARN", 4: "ERR", 6: "OFF"}
_COLOURS = {
    logging.DEBUG: "\033[36m",
    logging.INFO: "\033[32m",
    logging.WARNING: "\033[33m",
    logging.ERROR: "\033[31m",
    logging.CRITICAL: "\033[1;31m",
}

logger = logging.getLogger("poptorch::python")


class _Formatter(logging.Formatter):
    """[12:34:56.789] [poptorch::python] [warning] message"""

    def __init__(self, colour):
        super().__init__(
            "[%(asctime)s.%(msecs)03d] [%(name)s] [%(shown)s] %(message)s",
            datefmt="%H:%M:%S",
        )
        self._colour = colour

    def format(self, record):
        name = record.levelname.lower()
        if self._colour:
            name = f"{_COLOURS.get(record.levelno, '')}{name}\033[0m"
        record.shown = name
        return super().format(record)


class _Standard(logging.StreamHandler):
    """Writes to what sys.stderr or sys.stdout is at the time."""

    def __init__(self, name):
        logging.Handler.__init__(self)
        self._name = name

    @property
    def stream(self):
        return getattr(sys, self._name)


def _makeHandler(destination):
    if destination in ("stderr", "stdout"):
        handler = _Standard(destination)
        colour = getattr(sys, destination).isatty()
    else:
        handler = logging.FileHandler(destination)
        colour = False
    handler.setFormatter(_Formatter(colour))
    return handler


def setUpLogging():
    """Reads POPTORCH_LOG_LEVEL and POPTORCH_LOG_DEST; once, at import."""
    level = os.environ.get("POPTORCH_LOG_LEVEL", "WARN")
    if level not in _LEVELS:
        raise createPoptorchError(
            f"Invalid value for POPTORCH_LOG_LEVEL: {level}. Valid values are "
            + ", ".join(_LEVELS)
        )
    logging.addLevelName(TRACE, "TRACE")
    logger.setLevel(_LEVELS[level])
    logger.propagate = False
    destination = os.environ.get("POPTORCH_LOG_DEST", "stderr")
    logger.addHandler(_makeHandler(destination))


def setLogLevel(level):
    """Changes how much PopTorch logs: "TRACE" to "OFF", or 0 to 6."""
    name = _BY_NUMBER.get(level, level)
    if name not in _BY_NUMBER.values():
        raise ValueError(
            f"Unknown log level: {level}. Valid values are DEBUG, ERR, INFO, "
            "OFF, TRACE and WARN"
        )
    logger.setLevel(_LEVELS[name])
