# All ways to hand tensors to a model, call after call: values are those of the
# model itself, run by PyTorch on the same arguments.
import collections
import dataclasses
import random
import types

import numpy
import pytest
import torch
from torch import nn

import poptorch


def options():
    return poptorch.Options().showCompilationProgressBar(False)


Pair = collections.namedtuple("Pair", "first second")


@dataclasses.dataclass(frozen=True)
class Record:
    first: object
    second: object
    label: str = "record"


class Plain:
    def __init__(self, first, second):
        self.first = first
        self.second = second


class Parsed:
    """Looked into by a parser: its tensors are not its attributes."""

    def __init__(self, *tensors):
        self.held = {"tensors": list(tensors)}


class ParserOfParsed(poptorch.ICustomArgParser):
    def yieldTensors(self, struct):
        yield from struct.held["tensors"]

    def reconstruct(self, original_structure, tensor_iterator):
        return Parsed(*[next(tensor_iterator) for _ in range(2)])


@pytest.fixture(autouse=True)
def _parser():
    poptorch.registerCustomArgParser(Parsed, ParserOfParsed())
    yield
    poptorch.registerCustomArgParser(Parsed, None)


def leaves(value, path=""):
    """(path, tensor or number), by the paths' order and not the containers'."""
    if isinstance(value, Parsed):
        value = value.held["tensors"]
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, (list, tuple)):
        parts = enumerate(value)
    elif isinstance(value, (Record, Plain, types.SimpleNamespace)):
        parts = vars(value).items()
    else:
        return [] if value is None or isinstance(value, str) else [(path, value)]
    found = []
    for key, part in parts:
        found += leaves(part, f"{path}/{key}")
    return sorted(found, key=lambda leaf: leaf[0])


class Weighted(nn.Module):
    """Every leaf counts with a factor that its path has."""

    def forward(self, a, b=None, *rest, c=None, **named):
        found = leaves({"a": a, "b": b, "rest": rest, "c": c, "named": named})
        return sum(value * 3.0**i for i, (_, value) in enumerate(found))


class Generator:
    """Arguments of one structure, with other tensors and orders each time."""

    def __init__(self, seed):
        self.seed = seed
        self.orders = random.Random(seed + 1)

    def next(self):
        self.choices = random.Random(self.seed)
        positional = [self.value(2) for _ in range(self.choices.randrange(4))]
        kwargs = {"z": self.value(2), "c": self.value(1), "x": self.value(1)}
        args = [torch.rand(2), *positional]
        if self.choices.random() < 0.3:
            kwargs["a"] = args[0]
            kwargs["b"] = self.value(1)
            args = []
        return args, self.shuffled(kwargs)

    def shuffled(self, values):
        items = list(values.items())
        self.orders.shuffle(items)
        return dict(items)

    def value(self, depth):
        kind = self.choices.randrange(10 if depth else 3)
        if kind == 0:
            return self.choices.choice((None, 2, 0.5, "text"))
        if kind < 3:
            return torch.rand(2)
        if kind == 3:
            return {"x": self.value(depth - 1), **self.tensors("pq")}
        if kind == 4:
            return self.shuffled(self.tensors("uvw"))
        parts = self.value(depth - 1), torch.rand(2)
        makers = (list, tuple, lambda p: Pair(*p), lambda p: Record(*p),
                  lambda p: types.SimpleNamespace(one=p[0], two=p[1]))  # fmt: skip
        return makers[kind - 5](parts)

    def tensors(self, names):
        return {name: torch.rand(2) for name in names}


@pytest.mark.parametrize("seed", range(40))
def test_everyCallHasItsOwnArguments(seed):
    torch.manual_seed(seed)
    generator = Generator(seed)
    model = Weighted()
    wrapper = poptorch.inferenceModel(model, options())
    for _ in range(3):
        args, kwargs = generator.next()
        torch.testing.assert_close(
            wrapper(*args, **kwargs), model(*args, **kwargs)
        )


def differ(value):
    return value.first - 2 * value.second


@pytest.mark.parametrize(
    "make, function",
    [
        (lambda a, b: {"first": a, "second": b},
         lambda v: v["first"] - 2 * v["second"]),
        (lambda a, b: {"second": b, "first": a},
         lambda v: v["first"] - 2 * v["second"]),
        (Pair, differ),
        (Record, differ),
        (Plain, differ),
        (lambda a, b: types.SimpleNamespace(first=a, second=b), differ),
        (Parsed, lambda v: v.held["tensors"][0] - 2 * v.held["tensors"][1]),
    ],
)  # fmt: skip
def test_kindsOfContainers(make, function):
    wrapper = poptorch.inferenceModel(function, options())
    for i in range(3):
        a, b = torch.rand(3), torch.rand(3) + i
        torch.testing.assert_close(wrapper(make(a, b)), a - 2 * b)


def test_orderOfKeysIsNotThatOfTheCompilation():
    wrapper = poptorch.inferenceModel(lambda d: d["a"] - 2 * d["b"], options())
    a, b = torch.tensor([1.0]), torch.tensor([10.0])
    assert wrapper({"a": a, "b": b}).item() == -19
    assert wrapper({"b": b, "a": a}).item() == -19

    def named(**kwargs):
        return kwargs["a"] - 2 * kwargs["b"]

    wrapper = poptorch.inferenceModel(named, options())
    assert wrapper(a=a, b=b).item() == -19
    assert wrapper(b=b, a=a).item() == -19


def test_changedTensorsInContainersGoBackToTheirOwners():
    def change(d):
        d["a"] += 1
        d["b"] *= 2
        return d["a"] + d["b"]

    wrapper = poptorch.inferenceModel(change, options())
    a, b = torch.zeros(2), torch.ones(2)
    wrapper({"a": a, "b": b})
    wrapper({"b": b, "a": a})
    assert a.tolist() == [2, 2] and b.tolist() == [4, 4]


@pytest.mark.parametrize("kind", [Record, Plain, Pair, types.SimpleNamespace])
def test_objectsAreReturnedWithTheirTensors(kind):
    def make(x):
        if kind is types.SimpleNamespace:
            return kind(first=x + 1, second=[x * 2])
        return kind(x + 1, [x * 2])

    wrapper = poptorch.inferenceModel(make, options())
    for _ in range(2):
        x = torch.rand(3)
        result = wrapper(x)
        assert type(result) is kind
        torch.testing.assert_close(result.first, x + 1)
        torch.testing.assert_close(result.second[0], x * 2)


def test_distributionsAreReturned():
    wrapper = poptorch.inferenceModel(
        lambda x: torch.distributions.Normal(x, x.exp()), options()
    )
    x = torch.rand(3)
    torch.testing.assert_close(wrapper(x).scale, x.exp())


class Settings:
    def __init__(self, factor):
        self.factor = factor


def test_constantsOfOtherValuesAreRefused():
    """Whatever is no tensor is part of the program."""
    x = torch.ones(2)
    settings = Settings(2)
    wrapper = poptorch.inferenceModel(lambda x, s: x * s.factor, options())
    assert wrapper(x, settings).tolist() == [2, 2]
    assert wrapper(x, Settings(2)).tolist() == [2, 2]
    settings.factor = 3
    with pytest.raises(poptorch.Error, match="Value mismatch for s"):
        wrapper(x, settings)
    values = numpy.array([1.0, 2.0])
    wrapper = poptorch.inferenceModel(lambda x, v: x * float(v[1]), options())
    assert wrapper(x, values).tolist() == [2, 2]
    assert wrapper(x, values.copy()).tolist() == [2, 2]
    values[1] = 5
    with pytest.raises(poptorch.Error, match="Value mismatch for v"):
        wrapper(x, values)
    wrapper = poptorch.inferenceModel(lambda x, v: x * 2, options())
    for _ in range(2):
        assert wrapper(x, float("nan")).tolist() == [2, 2]
    with pytest.raises(poptorch.Error, match="Value mismatch for v"):
        wrapper(x, 1.0)


def test_otherStructuresAreRefused():
    x = torch.ones(2)
    wrapper = poptorch.inferenceModel(lambda v: leaves(v)[0][1] * 2, options())
    wrapper(Record(x, None))
    with pytest.raises(poptorch.Error, match="Value mismatch for v"):
        wrapper(Record(x, None, "another"))
    with pytest.raises(poptorch.Error, match="mismatch for v"):
        wrapper(Record(x, x))
    with pytest.raises(poptorch.Error, match="Type mismatch for v"):
        wrapper(Plain(x, None))
