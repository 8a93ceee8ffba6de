"""A graph as data, and as the Python program that runs it in PopART and in
PyTorch and compares."""

import inspect
from dataclasses import dataclass, field, replace
from typing import Any, Mapping

from . import runtime


@dataclass(frozen=True)
class Kind:
    """What is known of a tensor before it is computed."""

    type: str  # "float", "half", "int" or "bool"
    shape: tuple[int, ...]
    bound: float  # no element is larger in size
    # 0: both sides have the same bits; 1: they differ by float's roundings;
    # 2: by half's.
    noise: int = 0

    @property
    def elements(self) -> int:
        count = 1
        for size in self.shape:
            count *= size
        return count

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def is_real(self) -> bool:
        return self.type in ("float", "half")


@dataclass(frozen=True)
class Leaf:
    """Numbers from a seed: a "variable", a "stream" or a "constant"."""

    kind: Kind
    role: str
    seed: int


@dataclass(frozen=True)
class Node:
    """An operation: its text in both languages, with {0}, {1}, ... for the
    operands and names for the attributes."""

    form: str
    popart: str
    torch: str
    operands: tuple[int, ...]
    kind: Kind
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def text(self, template: str) -> str:
        names = [f"t{i}" for i in self.operands]
        return template.format(*names, **self.attributes)


@dataclass(frozen=True)
class Program:
    """Leaves and nodes, each before those that read it; operands are positions
    in the list. What no node reads is the program's result."""

    values: tuple[Leaf | Node, ...]

    @property
    def nodes(self) -> list[int]:
        return [i for i, v in enumerate(self.values) if isinstance(v, Node)]

    @property
    def results(self) -> list[int]:
        read = {i for v in self.values if isinstance(v, Node)
                for i in v.operands}
        return [i for i in self.nodes if i not in read]

    @property
    def roughest(self) -> str:
        types = {value.kind.type for value in self.values}
        return "half" if "half" in types else "float"

    def only(self, wanted: list[int]) -> "Program":
        """What the values at `wanted` need, and nothing else."""
        needed = set(wanted)
        for i in reversed(range(len(self.values))):
            if i in needed and isinstance(self.values[i], Node):
                needed |= set(self.values[i].operands)
        places = {old: new for new, old in enumerate(sorted(needed))}
        return Program(tuple(
            replace(v, operands=tuple(places[i] for i in v.operands))
            if isinstance(v, Node) else v
            for i, v in enumerate(self.values) if i in needed))

    def script(self) -> str:
        """A program that needs nothing but popart, torch and numpy, and ends
        with an AssertionError where the two sides disagree."""
        names = ", ".join(f"t{i}" for i, v in enumerate(self.values)
                          if isinstance(v, Leaf))
        results = ", ".join(f"t{i}" for i in self.results)
        lines = [inspect.getsource(runtime), "", "LEAVES = {"]
        for i, leaf in enumerate(self.values):
            if isinstance(leaf, Leaf):
                lines.append(
                    f'    "t{i}": Leaf("{leaf.role}", "{leaf.kind.type}", '
                    f"{leaf.kind.shape}, {leaf.seed}),")
        lines += ["}", "", "", f"def build(o, g, c, {names}):"]
        lines += [f"    t{i} = {v.text(v.popart)}"
                  for i, v in enumerate(self.values) if isinstance(v, Node)]
        lines += [f"    return [{results}]", "", "",
                  f"def reference(to, {names}):"]
        lines += [f"    t{i} = to.{v.kind.type}({v.text(v.torch)})"
                  for i, v in enumerate(self.values) if isinstance(v, Node)]
        lines += [f"    return [{results}]", "", "",
                  f'check(LEAVES, build, reference, "{self.roughest}")', ""]
        return "\n".join(lines)
