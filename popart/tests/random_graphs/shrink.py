"""Cuts a program down while it still fails."""

from dataclasses import replace
from typing import Callable, Iterator

from .program import Leaf, Node, Program


def with_leaf(program: Program, index: int) -> Program:
    """Random numbers in the place of what node `index` computes."""
    kind = program.values[index].kind
    role = "variable" if kind.is_real else "stream"
    values = list(program.values)
    values[index] = Leaf(replace(kind, noise=0), role, seed=index)
    return Program(tuple(values))


def with_operand(program: Program, index: int, operand: int) -> Program:
    """One of node `index`'s operands in its place."""
    values = tuple(
        replace(v, operands=tuple(operand if i == index else i
                                  for i in v.operands))
        if isinstance(v, Node) else v for v in program.values)
    return Program(values)


def smaller(program: Program) -> Iterator[Program]:
    """Programs with fewer nodes, the smallest first."""
    results = program.results
    yield from (program.only([i]) for i in reversed(results))
    # Each node as the last one, in its order: the first that is wrong.
    yield from (program.only([i]) for i in program.nodes)
    for i in program.nodes:
        others = [r for r in results if r != i]
        if others:
            yield with_leaf(program, i).only(others)
        node = program.values[i]
        for operand in node.operands:
            kind = program.values[operand].kind
            if others and (kind.type, kind.shape) == (node.kind.type,
                                                      node.kind.shape):
                yield with_operand(program, i, operand).only(others)


def shrink(program: Program, fails: Callable[[Program], bool]) -> Program:
    """A program from which no single node can be taken without it passing."""
    size = len(program.nodes)
    for candidate in smaller(program):
        if 0 < len(candidate.nodes) < size and fails(candidate):
            return shrink(candidate, fails)
    return program
