"""Runs the scripts of programs, and says where the two sides disagree."""

import traceback

from .program import Program
from .shrink import shrink


def failure(program: Program) -> str:
    """Empty if PopART and PyTorch agree, else what went wrong."""
    script = program.script()
    try:
        exec(compile(script, "random graph", "exec"), {"__name__": "graph"})
    except Exception:
        return traceback.format_exc(limit=-2)
    return ""


def check(program: Program, about: str):
    """Raises AssertionError with the smallest program that fails."""
    message = failure(program)
    if not message:
        return
    small = shrink(program, lambda candidate: bool(failure(candidate)))
    raise AssertionError(
        f"{about}: {message}\nThe smallest program that fails has "
        f"{len(small.nodes)} of {len(program.nodes)} operations:\n"
        f"{failure(small)}\n{'-' * 72}\n{small.script()}{'-' * 72}")
