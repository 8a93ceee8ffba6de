"""Operators on single elements, with broadcasts, and casts between types."""

import math

from .generate import Choice, Draft, Form, broadcast, noise_of
from .program import Kind


def unary(name, torch, bound, popart=None, has_kink=False, is_rounded=True,
          most=math.inf, **attributes):
    """`bound` gives the result's from the operand's, which is `most` at most.
    Where the function or its derivative jumps, both sides must have the operand
    to float's precision at least."""

    def propose(draft: Draft):
        x = draft.pick_real(lambda kind: kind.bound <= most and
                            not (has_kink and kind.noise > 1))
        if x is None:
            return None
        kind = draft.kind(x)
        noise = noise_of(kind.type, kind) if is_rounded else kind.noise
        return Choice((x,), Kind(kind.type, kind.shape, bound(kind.bound),
                                 noise), attributes)

    return Form(name, popart or f"o.{name}([{{0}}])", torch, propose)


def binary(name, torch, bound, popart=None, has_kink=False, is_rounded=True,
           types=("float", "half"), most=math.inf):
    def propose(draft: Draft):
        def fits(kind: Kind):
            return (kind.type in types and kind.bound <= most and
                    not (has_kink and kind.noise > 1))

        x = draft.pick(fits)
        if x is None:
            return None
        y = draft.partner(draft.kind(x), fits)
        if x == y and draft.kind(x).type == "half":
            return None  # gradients that cancel each other leave roundings
        pair = [x, y]
        draft.random.shuffle(pair)
        a, b = (draft.kind(i) for i in pair)
        noise = noise_of(a.type, a, b) if is_rounded else max(a.noise, b.noise)
        return Choice(tuple(pair), Kind(a.type, broadcast(a.shape, b.shape),
                                        bound(a.bound, b.bound), noise))

    return Form(name, popart or f"o.{name}([{{0}}, {{1}}])", torch, propose)


def comparison(name, torch, types, has_kink=True):
    def propose(draft: Draft):
        def fits(kind: Kind):
            return kind.type in types and not (has_kink and kind.noise > 1)

        x = draft.pick(fits)
        if x is None:
            return None
        y = draft.partner(draft.kind(x), fits)
        shape = broadcast(draft.kind(x).shape, draft.kind(y).shape)
        return Choice((x, y), Kind("bool", shape, 1.0))

    return Form(name, f"o.{name}([{{0}}, {{1}}])", torch, propose)


def negate(draft: Draft):
    x = draft.pick(lambda kind: kind.type != "bool")
    return None if x is None else Choice((x,), draft.kind(x))


def invert(draft: Draft):
    x = draft.pick(lambda kind: kind.type == "bool")
    return None if x is None else Choice((x,), draft.kind(x))


def select(draft: Draft):
    x = draft.pick(lambda kind: kind.type != "bool")
    if x is None:
        return None
    y = draft.partner(draft.kind(x))
    a, b = draft.kind(x), draft.kind(y)
    shape = broadcast(a.shape, b.shape)
    condition = draft.pick(lambda kind: kind.type == "bool" and
                           broadcast(kind.shape, shape) is not None)
    if condition is None:
        condition = draft.leaf("bool", shape)
    shape = broadcast(draft.kind(condition).shape, shape)
    return Choice((condition, x, y), Kind(a.type, shape, max(a.bound, b.bound),
                                          max(a.noise, b.noise)))


def add_many(draft: Draft):
    x = draft.pick_real()
    others = [draft.partner(draft.kind(x)) for _ in range(2)]
    shape = draft.kind(x).shape
    for other in others:
        shape = broadcast(shape, draft.kind(other).shape)
        if shape is None:
            return None
    kinds = [draft.kind(i) for i in (x, *others)]
    return Choice((x, *others), Kind(kinds[0].type, shape,
                                     sum(kind.bound for kind in kinds),
                                     noise_of(kinds[0].type, *kinds)))


def cast(draft: Draft):
    x = draft.pick(lambda kind: True)
    kind = draft.kind(x)
    to = draft.random.choice(
        [t for t in ("float", "half", "int", "bool") if t != kind.type])
    if (kind.noise > 1 and to in ("int", "bool")) or (
            to == "half" and kind.noise == 1 and draft.random.random() < 0.5):
        return None
    noise = 2 if to == "half" and kind.noise else kind.noise
    names = {"float": "FLOAT", "half": "FLOAT16", "int": "INT32",
             "bool": "BOOL"}
    return Choice((x,), Kind(to, kind.shape, 1.0 if to == "bool" else kind.bound,
                             0 if to in ("int", "bool") else noise),
                  {"to": names[to]})


FORMS = [
    unary("tanh", "torch.tanh({0})", lambda x: 1.0),
    unary("sigmoid", "torch.sigmoid({0})", lambda x: 1.0),
    unary("sin", "torch.sin({0})", lambda x: 1.0),
    unary("cos", "torch.cos({0})", lambda x: 1.0),
    unary("erf", "torch.erf({0})", lambda x: 1.0),
    unary("softplus", "torch.log1p(torch.exp({0}))", lambda x: x + 0.7,
          most=20.0),
    unary("exp", "torch.exp({0})", math.exp, most=3.0),
    unary("root", "torch.sqrt(torch.exp({0}))", lambda x: math.exp(x / 2),
          popart="o.sqrt([o.exp([{0}])])", most=3.0),
    unary("logarithm", "torch.log(torch.exp({0}) + torch.exp(-{0}))",
          lambda x: x + 0.7,
          popart="o.log([o.add([o.exp([{0}]), o.exp([o.neg([{0}])])])])",
          most=3.0),
    unary("relu", "torch.relu({0})", lambda x: x, has_kink=True,
          is_rounded=False),
    unary("abs", "torch.abs({0})", lambda x: x, has_kink=True,
          is_rounded=False),
    unary("leakyrelu", "torch.where({0} < 0, 0.25 * {0}, {0})", lambda x: x,
          popart="o.leakyrelu([{0}], alpha=0.25)", has_kink=True,
          is_rounded=False),
    unary("square", "{0} * {0}", lambda x: x * x,
          popart="o.mul([{0}, {0}])"),
    binary("add", "{0} + {1}", lambda x, y: x + y),
    binary("add", "{0} + {1}", lambda x, y: x + y, types=("int",),
           is_rounded=False),
    binary("sub", "{0} - {1}", lambda x, y: x + y),
    binary("mul", "{0} * {1}", lambda x, y: x * y),
    binary("mul", "{0} * {1}", lambda x, y: x * y, types=("int",),
           is_rounded=False),
    binary("div", "{0} / torch.exp({1})", lambda x, y: x * math.exp(y),
           popart="o.div([{0}, o.exp([{1}])])", most=3.0),
    binary("max", "torch.maximum({0}, {1})", max, has_kink=True,
           is_rounded=False),
    binary("min", "torch.minimum({0}, {1})", max, has_kink=True,
           is_rounded=False),
    comparison("greater", "{0} > {1}", ("float", "half", "int")),
    comparison("less", "{0} < {1}", ("float", "half", "int")),
    comparison("equal", "{0} == {1}", ("int", "bool")),
    comparison("logical_and", "{0} & {1}", ("bool",)),
    comparison("logical_or", "{0} | {1}", ("bool",)),
    Form("neg", "o.neg([{0}])", "-{0}", negate),
    Form("not", "o.logical_not([{0}])", "~{0}", invert),
    Form("where", "o.where([{0}, {1}, {2}])", "torch.where({0}, {1}, {2})",
         select),
    Form("sum", "o.sum([{0}, {1}, {2}])", "{0} + {1} + {2}", add_many),
    Form("cast", "o.cast([{0}], '{to}')", "{0}", cast),
]
