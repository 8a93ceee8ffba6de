"""Datasets in memory: whole batches have the bits that torch's rows have."""

import numpy as np
import poptorch
import pytest
import torch
from poptorch._bulk_loading import fetcherOf
from torch.utils.data import Subset, TensorDataset

torchvision = pytest.importorskip("torchvision")
transforms = torchvision.transforms

COUNT = 50


def bytes_of(*shape):
    return np.random.default_rng(3).integers(0, 256, shape, dtype=np.uint8)


def image_set(kind, transform, data, targets):
    """As the class makes it from files, without the files."""
    dataset = kind.__new__(kind)
    dataset.data, dataset.targets = data, targets
    dataset.transform, dataset.target_transform = transform, None
    return dataset


def grey(transform, kind=torchvision.datasets.FashionMNIST):
    return image_set(kind, transform,
                     torch.from_numpy(bytes_of(COUNT, 28, 28)),
                     torch.arange(COUNT) % 10)


def colour(transform):
    return image_set(torchvision.datasets.CIFAR10, transform,
                     bytes_of(COUNT, 32, 32, 3),
                     [i % 10 for i in range(COUNT)])


def tensors():
    generator = torch.Generator().manual_seed(5)
    return TensorDataset(torch.randn(COUNT, 3, 2, generator=generator),
                         torch.arange(COUNT))


USUAL = transforms.Compose([transforms.ToTensor(),
                            transforms.Normalize((0.1307,), (0.3081,))])
COLOURS = transforms.Compose([
    transforms.ToTensor(),
    transforms.Normalize((0.49, 0.48, 0.45), (0.25, 0.24, 0.26),
                         inplace=True)])
RECOGNISED = {
    "grey": lambda: grey(USUAL),
    "grey, not normalised": lambda: grey(transforms.ToTensor()),
    "colour": lambda: colour(COLOURS),
    "tensors": tensors,
    "subset": lambda: Subset(grey(USUAL), list(range(COUNT - 1, 0, -1))),
    "rows from the end": lambda: Subset(tensors(), list(range(-COUNT, 0))),
}


def loader_of(dataset, **more):
    options = poptorch.Options()
    options.deviceIterations(2)
    return poptorch.DataLoader(options, dataset, batch_size=4, **more)


def batches_of(dataset, **more):
    torch.manual_seed(1)
    loader = loader_of(dataset, shuffle=True, **more)
    return [batch for _ in range(2) for batch in loader]


@pytest.mark.parametrize("name", RECOGNISED)
@pytest.mark.parametrize("more", ({}, dict(drop_last=False),
                                  dict(num_workers=1)))
def test_bulk_batches_equal_those_of_torch(name, more, monkeypatch):
    dataset = RECOGNISED[name]()
    assert fetcherOf(loader_of(dataset, **more)) is not None
    ours = batches_of(dataset, **more)
    monkeypatch.setenv("ASPEN_BULK_LOADING", "0")
    assert fetcherOf(loader_of(dataset, **more)) is None
    theirs = batches_of(dataset, **more)
    assert len(ours) == len(theirs)
    for mine, expected in zip(ours, theirs):
        assert type(mine) is type(expected) is list
        for a, b in zip(mine, expected, strict=True):
            assert a.dtype == b.dtype and a.stride() == b.stride()
            assert torch.equal(a, b)


class Changed(torchvision.datasets.FashionMNIST):
    def __getitem__(self, index):
        image, target = super().__getitem__(index)
        return image + 1, target


class Shifted(transforms.Normalize):
    def forward(self, tensor):
        return super().forward(tensor) + 1


def with_hook():
    normalise = transforms.Normalize((0.5,), (0.5,))
    normalise.register_forward_hook(lambda *_: None)
    return normalise


def with_targets(targets):
    return image_set(torchvision.datasets.MNIST, USUAL,
                     torch.from_numpy(bytes_of(COUNT, 28, 28)), targets)


@pytest.mark.parametrize("dataset", (
    grey(USUAL, Changed),
    grey(transforms.Compose([transforms.ToTensor(), Shifted((0.5,), (0.5,))])),
    grey(transforms.Compose([transforms.ToTensor(), with_hook()])),
    grey(transforms.Compose([transforms.RandomCrop(24),
                             transforms.ToTensor()])),
    grey(lambda image: transforms.functional.to_tensor(image)),
    grey(None),
    with_targets([i / 2 for i in range(COUNT)]),
    with_targets(torch.arange(COUNT).float()),
    TensorDataset(torch.ones(COUNT, requires_grad=True)),
    Subset(grey(USUAL, Changed), [1, 2]),
    [(torch.ones(2), 1)] * COUNT,
))
def test_anything_but_stock_classes_is_left_to_torch(dataset):
    assert fetcherOf(loader_of(dataset)) is None


@pytest.mark.parametrize("more", (
    dict(worker_init_fn=lambda _: None), dict(collate_fn=lambda rows: rows),
    dict(pin_memory=True)))
def test_hooks_of_the_loader_are_left_to_torch(more):
    assert fetcherOf(loader_of(tensors(), **more)) is None
