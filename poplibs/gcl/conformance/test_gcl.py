"""Collectives over stacks of replicas."""

import numpy as np
import pytest
from conformance import PLAIN, Case, check, values

OPERATORS = {
    "ADD": lambda x: x.sum(0, dtype=x.dtype),
    "MEAN": lambda x: x.mean(0),
    "MUL": lambda x: x.prod(0, dtype=x.dtype),
    "MIN": lambda x: x.min(0),
    "MAX": lambda x: x.max(0),
    "LOGICAL_AND": lambda x: x.all(0),
    "LOGICAL_OR": lambda x: x.any(0),
    "SQUARE_ADD": lambda x: (x * x).sum(0, dtype=x.dtype),
}
GROUPS = (
    {},
    {"group": "CONSECUTIVE", "size": 2},
    {"group": "CONSECUTIVE", "size": 1},
    {"group": "ORTHOGONAL", "size": 2},
    {"group": "CONSECUTIVE", "size": 2, "stride": 2},
)


def members(replicas, group=None, size=0, stride=0):
    """The replicas of every group."""
    if group is None:
        return [list(range(replicas))]
    if stride == 0:
        stride = replicas // size if group == "ORTHOGONAL" else 1
    return [[block + first + i * stride for i in range(size)]
            for block in range(0, replicas, size * stride)
            for first in range(stride)]


def by_group(function, groups):
    """function(stack of the group) gives the stack of its results."""
    def expected(tensors):
        stack = tensors["in"]
        results = [None] * len(stack)
        for group in groups:
            for replica, result in zip(group, function(stack[group])):
                results[replica] = result
        return np.stack(results)
    return expected


def all_reduce(op):
    if op == "LOCAL":
        return lambda stack: stack
    return lambda stack: [OPERATORS[op](stack)] * len(stack)


def reduce_scatter(op):
    def parts(stack):
        count = len(stack)
        size = -(-stack.shape[1] // count)
        wholes = all_reduce(op)(stack)
        padding = np.zeros(size * count - stack.shape[1], stack.dtype)
        return [np.concatenate([whole, padding])[i * size:(i + 1) * size]
                for i, whole in enumerate(wholes)]
    return parts


def case(name, function, stack, groups=None, **extra):
    params = dict(groups or {})
    listed = members(len(stack), **params)
    params.update(extra.pop("params", {}))
    return Case(f"gcl.{name}", {"in": stack}, params,
                by_group(function, listed), replicas=len(stack), views=(PLAIN,),
                **extra)


def several(name, function, *shapes, groups=None, params=None):
    """Three tensors; the second has integers."""
    listed = members(4, **(groups or {}))
    types = (np.float32, np.int32, np.float32)
    tensors = {n: values(4, *shape, dtype=dtype)
               for n, shape, dtype in zip("abc", shapes, types)}
    expected = by_group(function, listed)
    return Case(f"gcl.{name}, several", tensors,
                {**(groups or {}), **(params or {})},
                lambda t: {n: expected({"in": x}) for n, x in t.items()},
                types={"b": "int"}, replicas=4, views=(PLAIN,))


def reductions(name, function, shape, **extra):
    return [case(name, function(op), values(*shape, dtype=dtype), group,
                 params={"op": op}, **extra)
            for op, types in (("ADD", (np.float32, np.float16, np.int32)),
                              ("MEAN", (np.float32, np.float16)),
                              ("MUL", (np.float32,)), ("MIN", (np.float32,)),
                              ("MAX", (np.int32,)), ("SQUARE_ADD", (np.float32,)),
                              ("LOGICAL_AND", (np.bool_,)),
                              ("LOGICAL_OR", (np.bool_,)),
                              ("LOCAL", (np.float32,)))
            for dtype in types for group in GROUPS]


def within(op, ipus=4):
    return Case("gcl.allReduceWithinReplica", {"in": values(ipus, 5, 3)},
                {"op": op},
                lambda t: np.stack(all_reduce(op)(t["in"])), views=(PLAIN,))


ROWS = [
    *reductions("allReduceCrossReplica", all_reduce, (4, 3, 5), tolerance=4e-3),
    *reductions("reduceScatterCrossReplica", reduce_scatter, (4, 11),
                tolerance=4e-3),
    *(case(name, all_reduce("ADD"), values(4, 6), group, params={"op": "ADD"})
      for name in ("allReduceToDestinationCrossReplica",
                   "allReduceInPlaceCrossReplica") for group in GROUPS),
    # More replicas than one operation combines.
    *(case("allReduceCrossReplica", all_reduce(op), values(35, 7, low=-1, high=1),
           params={"op": op}, tiles=4)
      for op in ("ADD", "MEAN", "SQUARE_ADD", "MAX")),
    *(case("allGatherCrossReplica", lambda s: [s] * len(s), values(4, 2, 3), group)
      for group in GROUPS),
    *(case("allToAllCrossReplica", lambda s: s.swapaxes(0, 1),
           values(4, group.get("size", 4), 3), group) for group in GROUPS),
    *(case("broadcastCrossReplica",
           lambda s, root=root: [s[root]] * len(s), values(4, 7), group,
           params={"root": root})
      for group in GROUPS for root in (0, 1) if root < group.get("size", 4)),
    # No element, and fewer than replicas.
    *(case(name, function, values(4, count), params={"op": "ADD"})
      for name, function in (
          ("allReduceCrossReplica", all_reduce("ADD")),
          ("reduceScatterCrossReplica", reduce_scatter("ADD")),
          ("allGatherCrossReplica", lambda s: [s] * len(s)),
          ("broadcastCrossReplica", lambda s: [s[0]] * len(s)))
      for count in (0, 1)),
    # One replica is a group of its own.
    Case("gcl.allReduceCrossReplica", {"in": values(6)}, {"op": "SQUARE_ADD"},
         lambda t: t["in"]**2),
    Case("gcl.allReduceCrossReplica", {"in": values(6)}, {"op": "MEAN"},
         lambda t: t["in"]),
    Case("gcl.allGatherCrossReplica", {"in": values(6)}, {},
         lambda t: t["in"][None]),
    # Several tensors of two types.
    *(several("allReduceCrossReplica", all_reduce("ADD"), (3,), (2, 2), (5,),
              groups=group, params={"op": "ADD"}) for group in GROUPS),
    *(several("reduceScatterCrossReplica", reduce_scatter("ADD"), (3,), (8,),
              (5,), groups=group, params={"op": "ADD"}) for group in GROUPS),
    *(several("allGatherCrossReplica", lambda s: [s] * len(s), (3,), (2, 2),
              (5,), groups=group) for group in GROUPS),
    several("allToAllCrossReplica", lambda s: s.swapaxes(0, 1), (4,), (4, 2),
            (4, 3)),
    several("broadcastCrossReplica", lambda s: [s[2]] * len(s), (3,), (2, 2),
            (5,), params={"root": 2}),
    *(case("reduceScatterToDestinationCrossReplica", reduce_scatter("MEAN"),
           values(4, 7), group,
           params={"op": "MEAN", "part": -(-7 // group.get("size", 4))})
      for group in GROUPS),
    *(case("allGatherToDestinationCrossReplica", lambda s: [s] * len(s),
           values(4, 6), group, params={"members": group.get("size", 4)})
      for group in GROUPS),
    *(within(op) for op in ("ADD", "MEAN", "MUL", "MIN", "MAX", "SQUARE_ADD",
                            "LOCAL")),
    Case("gcl.reduceScatterWithinReplica", {"in": values(3, 7)}, {"op": "ADD"},
         lambda t: t["in"].sum(0)),
    Case("gcl.allReduceCrossReplica", {"in": values(4, 3)},
         {"op": "ADD", "group": "CONSECUTIVE", "size": 3}, replicas=4,
         error=("poplibs_error", "divide")),
    Case("gcl.allReduceCrossReplica", {"in": values(4, 3)},
         {"op": "ADD", "group": "CONSECUTIVE", "size": 2, "stride": 4},
         replicas=4, error=("poplibs_error", "divide")),
    Case("gcl.allReduceCrossReplica", {"in": values(4, 3, dtype=np.int32)},
         {"op": "MEAN"}, replicas=4, error=("poplibs_error", "MEAN")),
    Case("gcl.allReduceCrossReplica", {"in": values(4, 3)},
         {"op": "LOGICAL_OR"}, replicas=4, error=("poplibs_error", "BOOL")),
    Case("gcl.reduceScatterCrossReplica", {"in": values(4, 3, 2)},
         {"op": "ADD"}, replicas=4, error=("poplibs_error", "rank 1")),
    Case("gcl.allToAllCrossReplica", {"in": values(4, 3, 2)}, {}, replicas=4,
         error=("poplibs_error", "first dimension")),
    Case("gcl.reduceScatterToDestinationCrossReplica", {"in": values(4, 7)},
         {"op": "ADD", "part": 7}, replicas=4,
         error=("poplibs_error", "2 elements")),
    Case("gcl.allGatherToDestinationCrossReplica", {"in": values(4, 7)},
         {"members": 3}, replicas=4, error=("poplibs_error", "28 elements")),
    Case("gcl.broadcastCrossReplica", {"in": values(4, 3)}, {"root": 4},
         replicas=4, error=("poplibs_error", "replica 4")),
    Case("gcl.allReduceCrossReplica", {"in": values(4, 3)}, {"op": "ADD"},
         replicas=4, options={"method": "square"},
         error=("invalid_option", "Not one of the values")),
    Case("gcl.allReduceCrossReplica", {"in": values(4, 3)}, {"op": "ADD"},
         replicas=4, options={"speed": "high"},
         error=("invalid_option", "Unrecognised option 'speed'")),
]


@pytest.mark.parametrize("case", ROWS, ids=str)
def test_conforms(case):
    check(case)
