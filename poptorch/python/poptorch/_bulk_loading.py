# Batches of datasets that lie in memory, fetched whole instead of row by row.
#
# A row of a torchvision dataset becomes an image object, then a tensor, then
# a normalised one, and all rows are copied once more into a batch: far more
# work than a small network's training step. Where every part is exactly the
# stock class, the same operations on a whole batch give the same bits.
import os
import sys

import torch
from torch.utils.data import _utils, dataloader

VARIABLE = "ASPEN_BULK_LOADING"


def fetcherOf(loader):
    """A function from a batch's indices to the batch, or None where only torch
    itself may load."""
    if (
        os.environ.get(VARIABLE, "1") == "0"
        or loader.worker_init_fn is not None
        or loader.batch_sampler is None
        or loader.pin_memory
        or loader.collate_fn is not _utils.collate.default_collate
    ):
        return None
    return _fetcherOfDataset(loader.dataset)


class BulkIterator(dataloader._BaseDataLoaderIter):
    """Walks the sampler as torch does, in this process."""

    def __init__(self, loader, fetch):
        super().__init__(loader)
        self._fetch = fetch

    def _next_data(self):
        return self._fetch(self._next_index())


def _fetcherOfDataset(dataset):
    if type(dataset) is torch.utils.data.Subset:
        return _ofSubset(dataset)
    if type(dataset) is torch.utils.data.TensorDataset:
        return _ofTensors(dataset)
    torchvision = sys.modules.get("torchvision")
    if torchvision is None or getattr(dataset, "target_transform", 0):
        return None
    sets = torchvision.datasets
    if type(dataset) in (sets.MNIST, sets.FashionMNIST, sets.KMNIST):
        return _ofImages(dataset, _greyImages)
    if type(dataset) in (sets.CIFAR10, sets.CIFAR100):
        return _ofImages(dataset, _colourImages)
    return None


def _ofSubset(subset):
    fetch = _fetcherOfDataset(subset.dataset)
    if fetch is None:
        return None
    return lambda indices: fetch([subset.indices[i] for i in indices])


def _isPlain(tensor):
    return (
        type(tensor) is torch.Tensor
        and tensor.layout == torch.strided
        and not tensor.requires_grad
    )


def _ofTensors(dataset):
    tensors = dataset.tensors
    if not all(_isPlain(tensor) for tensor in tensors):
        return None

    def fetch(indices):
        rows = _rowNumbers(indices, len(dataset))
        return [tensor.index_select(0, rows) for tensor in tensors]

    return fetch


def _rowNumbers(indices, count):
    """For index_select, which is done by this thread alone: those that torch
    wakes for tensor[rows] go on spinning where the engine's want to run."""
    if min(indices) < 0:  # from the end
        indices = [i + count if i < 0 else i for i in indices]
    return torch.tensor(indices)


def _greyImages(dataset):
    """[N, 1, H, W] of bytes, or None where the set was changed."""
    data = dataset.data
    if not _isPlain(data) or data.dtype != torch.uint8 or data.dim() != 3:
        return None
    return data.unsqueeze(1)


def _colourImages(dataset):
    data = torch.from_numpy(dataset.data)
    if data.dtype != torch.uint8 or data.dim() != 4 or data.shape[3] != 3:
        return None
    return data.permute(0, 3, 1, 2)


def _classes(dataset):
    """Int64 [N], or None where the set was changed."""
    targets = dataset.targets
    if isinstance(targets, list):
        if not all(type(target) is int for target in targets):
            return None
        targets = torch.tensor(targets)
    isClasses = (
        _isPlain(targets)
        and targets.dtype == torch.int64
        and targets.dim() == 1
    )
    return targets if isClasses else None


def _ofImages(dataset, imagesOf):
    images, classes = imagesOf(dataset), _classes(dataset)
    later = _afterToTensor(dataset.transform)
    if images is None or classes is None or later is None:
        return None

    def fetch(indices):
        rows = _rowNumbers(indices, len(images))
        batch = images.index_select(0, rows).contiguous()
        batch = batch.to(torch.get_default_dtype()).div_(255)
        for transform in later:
            batch = transform(batch)
        return [batch, classes.index_select(0, rows)]

    return fetch


def _hasHooks(module):
    return bool(module._forward_hooks or module._forward_pre_hooks)


def _afterToTensor(transform):
    """What follows ToTensor, if that comes first and all of it takes
    batches; otherwise None."""
    transforms = sys.modules["torchvision"].transforms
    steps = [transform]
    if type(transform) is transforms.Compose:
        steps = transform.transforms
    if not steps or type(steps[0]) is not transforms.ToTensor:
        return None
    later = list(steps[1:])
    if any(type(t) is not transforms.Normalize or _hasHooks(t) for t in later):
        return None
    return later
