"""Training loops, one class for each way to run a network.

A runner trains on batches it is given once. run(count) does the next `count`
steps and returns their last loss; a step is one weight update.
"""

import torch
from networks import Network


class PyTorchRunner:
    """Stock PyTorch, eager or traced."""

    def __init__(self, network: Network, images, labels, *, traced: bool,
                 channels_last: bool, foreach: bool):
        model = network.model()
        self.layout = (torch.channels_last if channels_last
                       else torch.contiguous_format)
        model = model.to(memory_format=self.layout)
        self.images = [i.contiguous(memory_format=self.layout) for i in images]
        self.labels = labels
        self.optimizer = getattr(torch.optim, network.optimizer)(
            model.parameters(), foreach=foreach, **network.hyperparameters)
        if traced:
            model = torch.jit.trace(model, (self.images[0], self.labels[0]))
        self.model = model
        self.next = 0

    def step(self):
        index = self.next % len(self.images)
        self.next += 1
        self.optimizer.zero_grad(set_to_none=True)
        _, loss = self.model(self.images[index], self.labels[index])
        loss.backward()
        self.optimizer.step()
        return loss

    def run(self, count: int) -> float:
        for _ in range(count):
            loss = self.step()
        return loss.item()


class AspenRunner:
    """PopTorch with its default options, but for the device iterations."""

    def __init__(self, network: Network, images, labels, *,
                 device_iterations: int):
        import poptorch

        options = poptorch.Options()
        options.deviceIterations(device_iterations)
        options.showCompilationProgressBar(False)
        model = network.model()
        optimizer = getattr(poptorch.optim, network.optimizer)(
            model.parameters(), **network.hyperparameters)
        self.model = poptorch.trainingModel(model, options, optimizer)
        self.per_call = device_iterations
        self.images = group(images, device_iterations)
        self.labels = group(labels, device_iterations)
        self.next = 0

    def run(self, count: int) -> float:
        assert count % self.per_call == 0
        for _ in range(count // self.per_call):
            index = self.next % len(self.images)
            self.next += 1
            _, loss = self.model(self.images[index], self.labels[index])
        return loss.reshape(-1)[-1].item()


def group(batches, count: int):
    """Joins each `count` consecutive batches into one tensor."""
    return [torch.cat(batches[i:i + count])
            for i in range(0, len(batches), count)]
