"""The networks that are timed: one row each, with data and optimiser.

Everything is made from fixed seeds, so that every process that builds a
network gets the same weights and the same batches.
"""

from dataclasses import dataclass
from functools import partial
from typing import Callable

import architectures
import torch
from torch import nn


class WithLoss(nn.Module):
    """Scores and loss in one forward(), as PopTorch wants it."""

    def __init__(self, layers: nn.Module):
        super().__init__()
        self.layers = layers
        self.loss = nn.NLLLoss()

    def forward(self, x, labels):
        scores = self.layers(x)
        return scores, self.loss(scores, labels)


@dataclass(frozen=True)
class Network:
    layers: Callable[[], nn.Module]
    sample: tuple[int, ...]  # the shape of one input
    batch: int
    optimizer: str  # a name in torch.optim and in poptorch.optim
    hyperparameters: dict
    target: float  # how much faster than PyTorch a training step must be
    chunk: int = 20  # steps timed together: some milliseconds of work
    checked: int = 40  # steps whose losses must agree
    batches_kept: int = 200  # distinct ones: a step's data is not in cache
    accumulation: int = 1  # steps, of one batch each, to an update
    stages: int = 1  # of a pipeline; the layers are as many blocks
    is_image: bool = True  # has convolutions, so that channels_last matters
    is_sequential: bool = True  # layers in a row, which jax_side.py reads
    inference_batches: tuple[int, ...] = (1, 64)

    def make_layers(self, has_dropout: bool) -> nn.Module:
        torch.manual_seed(7)
        layers = self.layers()
        if not has_dropout:
            switch_dropout_off(layers)
        return layers

    def batches(self, batch: int):
        """Noise around one input per class, and the classes."""
        generator = torch.Generator().manual_seed(11)
        kinds = torch.randn(10, *self.sample, generator=generator)
        labels = torch.randint(10, (self.batches_kept * batch,),
                               generator=generator)
        noise = torch.randn(len(labels), *self.sample, generator=generator)
        noise.add_(kinds[labels], alpha=0.5)
        return noise.split(batch), labels.split(batch)


def switch_dropout_off(layers: nn.Module):
    for module in layers.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        if isinstance(module, nn.MultiheadAttention):
            module.dropout = 0.0


IMAGE = (1, 28, 28)

# RMSprop has the defaults of Keras, SGD of the first those of the course.
NETWORKS = {
    "fashion-cnn": Network(architectures.fashion_cnn, IMAGE, 16, "SGD",
                           dict(lr=0.001, momentum=0.9), target=8.0),
    "mnist-pipeline": Network(architectures.pipelined_cnn, IMAGE, 40, "AdamW",
                              dict(lr=0.001), target=5.0, chunk=100,
                              checked=200, accumulation=10, stages=4),
    "mlp": Network(architectures.mlp, IMAGE, 32, "RMSprop",
                   dict(lr=0.001, alpha=0.9, eps=1e-7), target=5.0,
                   is_image=False),
    "keras-cifar10": Network(architectures.keras_cifar10, (3, 32, 32), 64,
                             "SGD", dict(lr=0.016), target=2.0, chunk=4,
                             checked=8, batches_kept=40),
    "keras-mnist": Network(architectures.keras_mnist, IMAGE, 64, "SGD",
                           dict(lr=0.01), target=3.5, chunk=10,
                           batches_kept=100),
    "resnet18": Network(partial(architectures.residual, "resnet18"),
                        (3, 224, 224), 16, "SGD", dict(lr=0.01), target=1.6,
                        chunk=1, checked=2, batches_kept=2,
                        is_sequential=False),
    "lstm": Network(architectures.LstmClassifier, (64, 64), 32, "Adam",
                    dict(lr=0.001), target=2.5, chunk=10, checked=20,
                    batches_kept=40, is_image=False, is_sequential=False),
    "transformer": Network(architectures.TransformerClassifier, (128, 256), 16,
                           "SGD", dict(lr=0.01), target=1.5, chunk=2, checked=6,
                           batches_kept=8, is_image=False,
                           is_sequential=False),
    "resnet50": Network(partial(architectures.residual, "resnet50"),
                        (3, 224, 224), 1, "", {}, target=0.0, chunk=2,
                        batches_kept=4, is_sequential=False,
                        inference_batches=(1,)),
}
INFERENCE_TARGET = 1.5  # times PyTorch, in every network
