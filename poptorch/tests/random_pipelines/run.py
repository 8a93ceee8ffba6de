"""Runs a case in all ways that give the same values, and compares them."""

import contextlib
import copy
import os

import torch

import poptorch

from . import pieces as p

TOLERANCE = 2e-4

# What a pipeline does not do, as the SDK documents it.
REFUSALS = ("Can not copy variable tensor", "A mixture of auto and manual")


@contextlib.contextmanager
def environment(**variables):
    old = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in old.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value


class Result:
    """Outputs of each step, and the state after the last."""

    def __init__(self, outputs, network):
        self.outputs = outputs
        self.state = {
            name: value.detach().clone()
            for name, value in network.state_dict().items()
        }

    def differs(self, other, slack=0.0):
        """Where it does, in words; empty if nowhere."""
        for step, (ours, theirs) in enumerate(zip(self.outputs, other.outputs)):
            for i, (a, b) in enumerate(zip(ours, theirs)):
                if text := _unequal(a, b, slack):
                    return f"output {i} of step {step}: {text}"
        for name, value in self.state.items():
            if text := _unequal(value, other.state[name], slack):
                return f"{name}: {text}"
        return ""


    def distance(self, other):
        """The largest, relative to values beyond one."""
        pairs = [pair for steps in zip(self.outputs, other.outputs)
                 for pair in zip(*steps)]
        pairs += [(v, other.state[name]) for name, v in self.state.items()]
        return max(_distance(a, b) for a, b in pairs)


def _distance(a, b):
    a, b = a.double(), b.double()
    return ((a - b).abs().max() / b.abs().max().clamp(min=1.0)).item()


def _unequal(a, b, slack):
    if a.shape != b.shape:
        return f"shapes {tuple(a.shape)} and {tuple(b.shape)}"
    apart = _distance(a, b)
    return "" if apart <= TOLERANCE + slack else f"{apart:.2e} apart"


def withPopTorch(case, is_plain, program="value", executor="fast"):
    """The result, and the summary of what it costs."""
    network = copy.deepcopy(case.network)
    way = case.way
    if not is_plain:
        way.apply(network)
    options = way.options(is_plain)
    if way.is_training:
        network.train()
        model = poptorch.trainingModel(
            network, options, way.makeOptimizer(network)
        )
    else:
        model = poptorch.inferenceModel(network.eval(), options)
    with environment(ASPEN_PROGRAM=program, ASPEN_EXECUTOR=executor):
        try:
            outputs = [model(x, target) for x, target in case.data()]
            if way.is_training:
                model.copyWeightsToHost()
            else:
                network = torch.nn.Module()  # its state stays on the device
            summary = model.getProfileSummary()
        finally:
            model.destroy()
    return Result(outputs, network), summary


def withTorch(case, dtype=torch.float32):
    """The micro-batches one after another."""
    network = copy.deepcopy(case.network).to(dtype)
    way = case.way
    network.train(way.is_training)
    optimizer = way.makeOptimizer(network) if way.is_training else None
    outputs = []
    for x, target in case.data():
        x = x.to(dtype) if x.is_floating_point() else x
        rows = zip(x.split(way.micro_batch), target.split(way.micro_batch))
        returned = []
        for i, micro_batch in enumerate(rows):
            if not way.is_training:
                with torch.no_grad():
                    returned.append(network(*micro_batch))
                continue
            result = network(*micro_batch)
            returned.append([t.detach().clone() for t in result])
            isMean = way.reduction == poptorch.ReductionType.Mean
            (result[-1] / (way.accumulation if isMean else 1)).backward()
            if (i + 1) % way.accumulation == 0:
                optimizer.step()
                optimizer.zero_grad()
        outputs.append([_collected(list(r), way.output)
                        for r in zip(*returned)])  # fmt: skip
    return Result(outputs, network if way.is_training else torch.nn.Module())


def _collected(values, mode):
    """What PopTorch returns of an output of all micro-batches."""
    whole = [v.unsqueeze(0) if v.dim() == 0 else v for v in values]
    if len(values) == 1 or mode == poptorch.OutputMode.Final:
        return values[-1]
    return torch.cat(whole) if mode == poptorch.OutputMode.All else sum(values)


def isStale(case):
    """Whether a stage reads what a later one wrote for the micro-batch before:
    the machine has gone on by then."""
    blocks = case.way.blocks
    pieces = list(case.network.pieces)
    return case.way.is_pipelined and any(
        isinstance(piece, p.Reader)
        and blocks[i] < blocks[pieces.index(piece.partners[0])]
        for i, piece in enumerate(pieces)
    )


def hasTorchsValues(case):
    way = case.way
    return (way.replicas == 1 and way.optimizer != "LAMB"
            and not (case.network.is_random and way.is_training)
            and (way.is_training or way.output != poptorch.OutputMode.Sum))


def failure(case, executor="fast"):
    """What is wrong, in words; empty if nothing is."""
    try:
        plain, _ = withPopTorch(case, is_plain=True)
        slack = 0.0
        if hasTorchsValues(case):
            expected = withTorch(case)
            # Norms of norms amplify rounding, in PyTorch as well.
            slack = 4 * expected.distance(withTorch(case, torch.float64))
            if text := plain.differs(expected, slack):
                return f"PopTorch is not PyTorch: {text}"
        value, summary = withPopTorch(case, is_plain=False)
        if text := value.differs(plain, slack):
            return f"the way changes values: {text}"
        if "cycles" not in summary:
            return f"no cycles: {summary}"
        machine, _ = withPopTorch(case, False, "machine", executor)
        if not isStale(case):
            if text := machine.differs(value, slack):
                return f"the machine program has other values: {text}"
    except Exception as e:
        if any(text in str(e) for text in REFUSALS):
            return ""
        return f"{type(e).__name__}: {e}"
    return ""
