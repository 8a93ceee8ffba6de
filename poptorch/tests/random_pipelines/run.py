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

    def differs(self, other):
        """Where it does, in words; empty if nowhere."""
        for step, (ours, theirs) in enumerate(zip(self.outputs, other.outputs)):
            for i, (a, b) in enumerate(zip(ours, theirs)):
                if text := _distance(a, b):
                    return f"output {i} of step {step}: {text}"
        for name, value in self.state.items():
            if text := _distance(value, other.state[name]):
                return f"{name}: {text}"
        return ""


def _distance(a, b):
    if a.shape != b.shape:
        return f"shapes {tuple(a.shape)} and {tuple(b.shape)}"
    a, b = a.double(), b.double()
    apart = (a - b).abs().max().item() if a.numel() else 0.0
    scale = max(1.0, b.abs().max().item() if b.numel() else 0.0)
    return "" if apart <= TOLERANCE * scale else f"{apart:.2e} apart"


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


def withTorch(case):
    """The micro-batches one after another."""
    network = copy.deepcopy(case.network)
    way = case.way
    network.train(way.is_training)
    optimizer = way.makeOptimizer(network) if way.is_training else None
    outputs = []
    for x, target in case.data():
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
        if hasTorchsValues(case):
            if text := plain.differs(withTorch(case)):
                return f"PopTorch is not PyTorch: {text}"
        value, summary = withPopTorch(case, is_plain=False)
        if text := value.differs(plain):
            return f"the way changes values: {text}"
        if "cycles" not in summary:
            return f"no cycles: {summary}"
        machine, _ = withPopTorch(case, False, "machine", executor)
        if not isStale(case):
            if text := machine.differs(value):
                return f"the machine program has other values: {text}"
    except Exception as e:
        if any(text in str(e) for text in REFUSALS):
            return ""
        return f"{type(e).__name__}: {e}"
    return ""
