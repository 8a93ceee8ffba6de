"""Training loops, one class for each framework.

A runner trains on batches it is given once. run(count) does the next `count`
steps of one batch each and returns their last loss.
"""

import time

import torch
from networks import Network, WithLoss


class PyTorchTraining:
    """Stock PyTorch, eager or traced."""

    def __init__(self, network: Network, inputs, labels, *, traced: bool,
                 channels_last: bool, foreach: bool, dropout: bool):
        model = WithLoss(network.make_layers(dropout))
        layout = (torch.channels_last if channels_last
                  else torch.contiguous_format)
        model = model.to(memory_format=layout)
        self.inputs = [i.contiguous(memory_format=layout) for i in inputs]
        self.labels = labels
        self.accumulation = network.accumulation
        self.optimizer = getattr(torch.optim, network.optimizer)(
            model.parameters(), foreach=foreach, **network.hyperparameters)
        self.state = [*model.parameters(), *model.buffers()]
        if traced:
            model = torch.jit.trace(model, (self.inputs[0], self.labels[0]),
                                    check_trace=False)
        self.model = model
        self.next = 0

    def step(self):
        index = self.next % len(self.inputs)
        self.next += 1
        _, loss = self.model(self.inputs[index], self.labels[index])
        (loss / self.accumulation if self.accumulation > 1 else loss).backward()
        if self.next % self.accumulation == 0:
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
        return loss

    def run(self, count: int) -> list[float]:
        for _ in range(count):
            loss = self.step()
        return [loss.item()]

    def persistent(self):
        """What stays in memory between steps, and one batch."""
        moments = [value for state in self.optimizer.state.values()
                   for value in state.values() if torch.is_tensor(value)]
        return [*self.state, *moments, self.inputs[0], self.labels[0]]


def in_blocks(layers: torch.nn.Module, stages: int, options):
    """Makes the children of `layers` the stages of a pipeline, one an IPU."""
    import poptorch

    names = [f"B{i + 1}" for i in range(stages)]
    options.setExecutionStrategy(poptorch.PipelinedExecution(
        *[poptorch.Stage(name).ipu(i) for i, name in enumerate(names)]))
    for block, name in zip(layers, names, strict=True):
        poptorch.BeginBlock(block, name)


class AspenTraining:
    """PopTorch with its default options, but for the device iterations."""

    def __init__(self, network: Network, inputs, labels, *, per_call: int,
                 dropout: bool):
        import poptorch

        options = poptorch.Options()
        options.deviceIterations(per_call // network.accumulation)
        options.Training.gradientAccumulation(network.accumulation)
        options.showCompilationProgressBar(False)
        options.randomSeed(3)
        model = WithLoss(network.make_layers(dropout))
        if network.stages > 1:
            in_blocks(model.layers, network.stages, options)
        optimizer = getattr(poptorch.optim, network.optimizer)(
            model.parameters(), **network.hyperparameters)
        self.model = poptorch.trainingModel(model, options, optimizer)
        self.per_call = per_call
        self.inputs = group(inputs, per_call)
        self.labels = group(labels, per_call)
        self.compile_seconds = compile_time(self.model, self.inputs[0],
                                            self.labels[0])
        self.next = 0

    def run(self, count: int) -> list[float]:
        assert count % self.per_call == 0
        for _ in range(count // self.per_call):
            index = self.next % len(self.inputs)
            self.next += 1
            _, loss = self.model(self.inputs[index], self.labels[index])
        return [loss.reshape(-1)[-1].item()]

    def state_after(self, count: int):
        """Everything that `count` steps have changed."""
        losses = self.run(count)
        self.model.copyWeightsToHost()
        return [torch.tensor(losses), *self.model.state_dict().values()]


def group(batches, count: int):
    """Joins each `count` consecutive batches into one tensor."""
    return [torch.cat(batches[i:i + count])
            for i in range(0, len(batches), count)]


def compile_time(model, *inputs) -> float:
    """Compiles a PopTorch model; the seconds it took."""
    start = time.perf_counter()
    model.compile(*inputs)
    return time.perf_counter() - start
