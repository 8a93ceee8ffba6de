# The data loader's batching rules and the asynchronous accessor.
import pytest
import torch
from torch.utils.data import IterableDataset, TensorDataset

import poptorch


def rows(count):
    return TensorDataset(torch.arange(float(count)).view(count, 1))


def options(iterations=1, replicas=1, accumulation=1):
    result = poptorch.Options()
    result.deviceIterations(iterations).replicationFactor(replicas)
    result.Training.gradientAccumulation(accumulation)
    return result


def firsts(loader):
    return [batch[0][0].item() for batch in loader]


def test_batchIsAllThatACallConsumes():
    loader = poptorch.DataLoader(options(2, 2, 3), rows(100), batch_size=4)
    assert loader.combinedBatchSize == 48
    assert len(loader) == 2
    assert [tuple(b[0].shape) for b in loader] == [(48, 1), (48, 1)]


def test_tutorialStepCounts():
    loader = poptorch.DataLoader(options(10, 1, 10), rows(60000), 40)
    assert len(loader) == 15
    assert len(poptorch.DataLoader(options(100), rows(10000), 8)) == 12


def test_freezesOptions():
    opts = options()
    poptorch.DataLoader(opts, rows(4))
    with pytest.raises(AttributeError, match="frozen"):
        opts.deviceIterations(2)


def test_shortLastBatchIsKeptOnRequest():
    loader = poptorch.DataLoader(options(4), rows(10), 2, drop_last=False)
    assert [b[0].shape[0] for b in loader] == [8, 2]


def test_batchSampler():
    sampler = torch.utils.data.BatchSampler(range(20), 3, drop_last=False)
    loader = poptorch.DataLoader(options(2), rows(20), batch_sampler=sampler)
    assert [b[0].shape[0] for b in loader] == [6, 6, 6]
    with pytest.raises(poptorch.Error, match="mutually exclusive"):
        poptorch.DataLoader(
            options(), rows(4), batch_size=2, batch_sampler=sampler
        )


def test_processesSplitTheDataset(monkeypatch):
    seen = []
    for process in range(2):
        opts = options()
        opts.Distributed.configureProcessId(process, 2)
        loader = poptorch.DataLoader(opts, rows(11), batch_size=2)
        seen.append(torch.cat([b[0] for b in loader]).flatten().tolist())
    assert seen == [[0, 1, 2, 3], [4, 5, 6, 7]]
    opts = options()
    opts.Distributed.configureProcessId(0, 2)
    with pytest.raises(AssertionError, match="you must set poptorch.Options.r"):
        poptorch.DataLoader(opts, rows(8), shuffle=True)


class _Stream(IterableDataset):
    def __iter__(self):
        return iter(torch.arange(6.0))


def test_iterableDataset():
    loader = poptorch.DataLoader(options(3), _Stream())
    assert [b.tolist() for b in loader] == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    "strategy",
    [poptorch.SharingStrategy.Fork, poptorch.SharingStrategy.ForkServer],
)
def test_asynchronousEpochs(strategy):
    loader = poptorch.DataLoader(
        options(2),
        rows(12),
        batch_size=2,
        mode=poptorch.DataLoaderMode.Async,
        async_options={"sharing_strategy": strategy, "early_preload": True},
    )
    try:
        assert firsts(loader) == [0, 4, 8]
        assert firsts(loader) == [0, 4, 8]
        next(iter(loader))
        assert firsts(loader) == [0, 4, 8]  # starts again mid-epoch
        with pytest.raises(poptorch.Error, match="already uses an Async"):
            poptorch.AsynchronousDataAccessor(loader)
    finally:
        loader.terminate()


FORK = {"sharing_strategy": poptorch.SharingStrategy.Fork}


def test_rebatchingLosesAtMostOneBatch():
    for drop_last, sizes in ((True, [8, 8]), (False, [8, 8, 4])):
        loader = poptorch.DataLoader(
            options(4),
            rows(20),
            batch_size=2,
            drop_last=drop_last,
            mode=poptorch.DataLoaderMode.AsyncRebatched,
            rebatched_worker_size=3,
            async_options=FORK,
        )
        assert len(loader) == len(sizes)
        assert [b[0].shape[0] for b in loader] == sizes
        loader.terminate()


def test_workerErrorsReachTheCaller():
    accessor = poptorch.AsynchronousDataAccessor([[]], **FORK)
    with pytest.raises(AssertionError, match="error occurred in the data"):
        accessor = poptorch.AsynchronousDataAccessor([[1, 2]], **FORK)
        next(iter(accessor))
    accessor.terminate()


def test_dictionariesKeepTheirKeys():
    accessor = poptorch.AsynchronousDataAccessor(
        [{"x": torch.ones(2), "y": torch.zeros(1)}], **FORK
    )
    item = next(iter(accessor))
    assert list(item) == ["x", "y"]
    assert item["x"].sum() == 2
    accessor.terminate()


class _Countable(IterableDataset):
    """101 elements, shared out among workers."""

    def __len__(self):
        return 101

    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        return iter(torch.arange(float(first), 101.0, float(step)))


@pytest.mark.parametrize("mode", poptorch.DataLoaderMode)
def test_lengthOfIterableDatasets(mode):
    is_async = mode != poptorch.DataLoaderMode.Sync
    loader = poptorch.DataLoader(
        options(), _Countable(), batch_size=4, num_workers=7, mode=mode,
        worker_init_fn=_nothing, async_options=FORK if is_async else None,
    )  # fmt: skip
    assert len(loader) == 25
    rebatched = mode == poptorch.DataLoaderMode.AsyncRebatched
    # Seven workers lose what does not fill a batch, three times four each.
    assert len(list(loader)) == (25 if rebatched else 21)
    loader.terminate()
    endless = poptorch.DataLoader(
        options(), _Stream(), batch_size=2, mode=mode,
        async_options=FORK if is_async else None,
    )  # fmt: skip
    with pytest.raises(TypeError, match=r"'_Stream' has no len\(\)"):
        len(endless)
    endless.terminate()


def _nothing(worker):
    pass


@pytest.mark.parametrize(
    "mode, strategy",
    [
        (poptorch.DataLoaderMode.Async, poptorch.SharingStrategy.ForkServer),
        (poptorch.DataLoaderMode.AsyncRebatched, poptorch.SharingStrategy.Fork),
    ],
)
def test_asynchronousShuffledAndDistributed(mode, strategy):
    seen = {}
    for modes in (mode, poptorch.DataLoaderMode.Sync):
        for process in range(2):
            opts = options().randomSeed(7)
            opts.Distributed.configureProcessId(process, 2)
            is_async = modes == mode
            loader = poptorch.DataLoader(
                opts, rows(12), batch_size=3, shuffle=True, mode=modes,
                async_options=(
                    {"sharing_strategy": strategy} if is_async else None
                ),
            )  # fmt: skip
            epochs = [
                [b[0].flatten().tolist() for b in loader] for _ in range(2)
            ]
            seen.setdefault(is_async, []).append(epochs)
            loader.terminate()
    assert seen[True] == seen[False]
    first, second = (sum(epochs[0], []) for epochs in seen[True])
    assert sorted(first + second) == list(range(12))


def test_generatorsGoToTheWorker():
    generator = torch.Generator().manual_seed(11)
    expected = [
        b[0].flatten().tolist()
        for b in poptorch.DataLoader(
            options(), rows(12), batch_size=3, shuffle=True,
            generator=torch.Generator().manual_seed(11),
        )
    ]  # fmt: skip
    loader = poptorch.DataLoader(
        options(), rows(12), batch_size=3, shuffle=True, generator=generator,
        mode=poptorch.DataLoaderMode.Async,
    )  # fmt: skip
    assert [b[0].flatten().tolist() for b in loader] == expected
    loader.terminate()


class _NotReadable(torch.utils.data.Dataset):
    """Its copy in another process cannot be made."""

    def __init__(self):
        self.rows = 4

    def __len__(self):
        return self.rows

    def __getitem__(self, index):
        return torch.zeros(1)

    def __setstate__(self, state):
        raise RuntimeError("no such file here")


class _NotWritable(_NotReadable):
    def __getstate__(self):
        raise RuntimeError("cannot be sent")


@pytest.mark.parametrize(
    "dataset, strategy",
    [
        (_NotReadable, poptorch.SharingStrategy.ForkServer),
        (_NotReadable, poptorch.SharingStrategy.FileSystem),
        (_NotWritable, poptorch.SharingStrategy.SharedMemory),
        (_NotWritable, poptorch.SharingStrategy.FileSystem),
    ],
)
def test_aDatasetThatTheWorkerCannotHaveIsAnErrorAtOnce(dataset, strategy):
    with pytest.raises(poptorch.Error, match="worker thread failed to start"):
        poptorch.DataLoader(
            options(2), dataset(), batch_size=2,
            mode=poptorch.DataLoaderMode.Async,
            async_options={"sharing_strategy": strategy},
        )  # fmt: skip
