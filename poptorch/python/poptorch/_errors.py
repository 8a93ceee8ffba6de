# Exceptions raised from Python; those raised in C++ are made by poptorch_core.
from .poptorch_core import Error


def createPoptorchError(message):
    """A poptorch.Error as Python code raises it."""
    error = Error(f"'poptorch_py_error': {message}")
    error.type = "poptorch_py_error"
    error.message = message
    error.location = ""
    return error
