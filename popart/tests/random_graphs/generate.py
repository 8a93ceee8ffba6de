"""Makes a program from a seed."""

import random
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping

from .program import Kind, Leaf, Node, Program

MOST_ELEMENTS = 600
# Larger numbers are not made: they overflow, or drown the others.
LARGEST = {"float": 1e3, "half": 30.0, "int": 1e6, "bool": 1.0}


@dataclass(frozen=True)
class Choice:
    """Operands and attributes that fit a form, and what comes out."""

    operands: tuple[int, ...]
    kind: Kind
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Form:
    """A way to use an operator. `propose` finds operands in a draft, or None."""

    name: str
    popart: str
    torch: str
    propose: Callable[["Draft"], Choice | None]


class Draft:
    """A program under construction."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.values: list[Leaf | Node] = []

    def kind(self, index: int) -> Kind:
        return self.values[index].kind

    def pick(self, fits: Callable[[Kind], bool]) -> int | None:
        """A value that fits, a late one rather than an early one."""
        found = [i for i in range(len(self.values)) if fits(self.kind(i))]
        if not found:
            return None
        place = self.random.random() ** 0.5 * len(found)
        return found[min(int(place), len(found) - 1)]

    def pick_real(self, fits=lambda kind: True) -> int | None:
        return self.pick(lambda kind: kind.is_real and fits(kind))

    def leaf(self, type: str, shape: tuple[int, ...]) -> int:
        role = "stream"
        if type in ("float", "half"):
            role = self.random.choices(["variable", "stream", "constant"],
                                       [6, 1, 1])[0]
        bound = 9.0 if type == "int" else 1.0
        self.values.append(Leaf(Kind(type, shape, bound), role,
                                self.random.randrange(1 << 30)))
        return len(self.values) - 1

    def partner(self, kind: Kind, fits=lambda other: True) -> int:
        """A value of the same type that broadcasts with `kind`: an old one, or
        a new leaf whose shape has some of its dimensions."""
        def is_partner(other: Kind):
            return (other.type == kind.type and fits(other) and
                    broadcast(kind.shape, other.shape) is not None)

        if self.random.random() < 0.7:
            found = self.pick(is_partner)
            if found is not None:
                return found
        kept = self.random.randint(0, kind.rank)
        shape = tuple(1 if self.random.random() < 0.3 else size
                      for size in kind.shape[kept:])
        return self.leaf(kind.type, shape)

    def add(self, form: Form) -> bool:
        choice = form.propose(self)
        if choice is None or choice.kind.elements > MOST_ELEMENTS or (
                choice.kind.bound > LARGEST[choice.kind.type]):
            return False
        self.values.append(Node(form.name, form.popart, form.torch,
                                choice.operands, choice.kind,
                                choice.attributes))
        return True


def broadcast(a: tuple, b: tuple) -> tuple | None:
    """The shape of both together, None where there is none."""
    rank = max(len(a), len(b))
    shape = []
    for x, y in zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b):
        if x != y and 1 not in (x, y):
            return None
        shape.append(max(x, y) if 0 not in (x, y) else 0)
    return tuple(shape)


def noise_of(type: str, *kinds: Kind) -> int:
    """Of a result that is rounded to `type`."""
    own = {"float": 1, "half": 2}.get(type, 0)
    return max(own, *(kind.noise for kind in kinds))


def random_shape(source: random.Random, least: int = 0) -> tuple[int, ...]:
    return tuple(source.choice((1, 2, 2, 3, 4, 5))
                 for _ in range(source.randint(least, 4)))


def generate(seed: int, forms: list[Form]) -> Program:
    """5 to 40 operations on floats, halves, integers and booleans."""
    draft = Draft(seed)
    for type in ("float", "float", draft.random.choice(("float", "half")),
                 draft.random.choice(("int", "bool", "half"))):
        draft.leaf(type, random_shape(draft.random, least=1))
    wanted = draft.random.randint(5, 40)
    while sum(isinstance(v, Node) for v in draft.values) < wanted:
        draft.add(draft.random.choice(forms))
    program = Program(tuple(draft.values))
    return program.only(program.results)
