# A torch DataLoader whose batches are all that a call of a wrapper consumes.
import torch

from ._async_data_accessor import AsynchronousDataAccessor
from ._bulk_loading import BulkIterator, fetcherOf
from ._distributed_sampler import DistributedRange
from ._errors import createPoptorchError
from ._logging import logger
from ._options_base import requireInstance
from .enums import DataLoaderMode
from .options import Options


class _JoinedBatches:
    """Joins the batches of a sampler that make up one step."""

    def __init__(self, sampler, steps, drop_last):
        self._sampler = sampler
        self._steps = steps
        self._drop_last = drop_last

    def __iter__(self):
        joined = []
        count = 0
        for batch in self._sampler:
            joined.extend(batch)
            count += 1
            if count == self._steps:
                yield joined
                joined = []
                count = 0
        if count and not self._drop_last:
            yield joined

    def __len__(self):
        whole, rest = divmod(len(self._sampler), self._steps)
        return whole + (0 if self._drop_last or not rest else 1)


class _Synchronous:
    """A loader as torch iterates it, for a worker process."""

    def __init__(self, loader):
        self._loader = loader

    def __iter__(self):
        return torch.utils.data.DataLoader.__iter__(self._loader)

    def __len__(self):
        return len(self._loader)


class DataLoader(torch.utils.data.DataLoader):
    """Batches of batch_size * deviceIterations * replicas *
    gradientAccumulation rows."""

    def __init__(
        self,
        options,
        dataset,
        batch_size=1,
        shuffle=None,
        num_workers=0,
        drop_last=True,
        persistent_workers=None,
        auto_distributed_partitioning=True,
        mode=DataLoaderMode.Sync,
        async_options=None,
        rebatched_worker_size=None,
        batch_sampler=None,
        **kwargs,
    ):
        assert isinstance(options, Options), (
            f"Expected poptorch.Options, not {type(options)}"
        )
        requireInstance("DataLoader's mode", mode, DataLoaderMode)
        options._freeze()
        self._accessor = None
        self._options = options
        self._is_iterable = isinstance(
            dataset, torch.utils.data.IterableDataset
        )
        steps = (
            options.device_iterations
            * (options.replication_factor // options.input_group_size)
            * options.Training.gradient_accumulation
        )
        if batch_sampler is not None:
            self._checkBatchSampler(
                options, batch_size, shuffle, auto_distributed_partitioning
            )
            batch_size = getattr(batch_sampler, "batch_size", None)
        self._combined = None if batch_size is None else batch_size * steps
        if auto_distributed_partitioning:
            dataset, kwargs, shuffle = self._partition(
                dataset, kwargs, shuffle, drop_last
            )
        self._checkSize(dataset, batch_size, steps, drop_last)
        if self._is_iterable and num_workers > 1 and (
            "worker_init_fn" not in kwargs
        ):  # fmt: skip
            logger.warning(
                "The dataset is iterable and num_workers > 1 but no "
                "worker_init_fn was given: elements will be duplicated"
            )
        if persistent_workers is None:
            persistent_workers = num_workers > 0
        worker_size, rebatched = self._rebatching(
            mode, rebatched_worker_size, async_options, drop_last
        )
        batching = {
            "batch_size": worker_size,
            "shuffle": bool(shuffle) if not self._is_iterable else None,
            "drop_last": (
                drop_last and not rebatched and batch_size is not None
            ),
        }
        if batch_sampler is not None:
            batching = {
                "batch_sampler": _JoinedBatches(
                    batch_sampler, steps, drop_last
                )
            }
        super().__init__(
            dataset,
            num_workers=num_workers,
            persistent_workers=persistent_workers,
            **batching,
            **kwargs,
        )
        self._rebatched = rebatched
        self._drops_last = drop_last
        if mode != DataLoaderMode.Sync:
            settings = dict(async_options or {})
            if rebatched:
                settings["rebatched_size"] = self._combined
            self._accessor = AsynchronousDataAccessor(self, **settings)

    @staticmethod
    def _checkBatchSampler(options, batch_size, shuffle, partitioning):
        if batch_size != 1 or shuffle:
            raise createPoptorchError(
                "`batch_sampler` option is mutually exclusive with batch_size, "
                "shuffle."
            )
        if partitioning and options.Distributed.numProcesses > 1:
            raise createPoptorchError(
                "`batch_sampler` option is mutually exclusive with "
                "auto_distributed_partitioning."
            )

    def _partition(self, dataset, kwargs, shuffle, drop_last):
        """This process's share of the dataset."""
        distributed = self._options.Distributed
        if distributed.numProcesses == 1:
            return dataset, kwargs, shuffle
        assert not self._is_iterable, (
            "auto_distributed_partitioning not supported for IterableDataset"
        )
        if shuffle:
            assert self._options.exists("random_seed"), (
                "When using torch.utils.data.DataLoader with shuffle in a "
                "distributed setup you must set poptorch.Options.randomSeed()"
            )
        sampler = DistributedRange(
            len(dataset),
            self._combined or 1,
            distributed.processId,
            distributed.numProcesses,
            drop_last,
            self._options.random_seed if shuffle else None,
        )
        return dataset, {**kwargs, "sampler": sampler}, None

    def _checkSize(self, dataset, batch_size, steps, drop_last):
        if self._is_iterable or batch_size is None or drop_last:
            return
        count = len(dataset)
        rest = count % self._combined
        if rest:
            logger.warning(
                "The number of elements in the dataset (%d) is not divisible by "
                "the number of elements processed per step (%d) and "
                "drop_last=False. The last tensor will have a batch size of %d. "
                "To avoid having to handle this special case switch to "
                "drop_last=True",
                count, self._combined, rest,
            )  # fmt: skip

    def _rebatching(self, mode, worker_size, async_options, drop_last):
        """(rows that a worker loads at a time, whether they are cut anew)"""
        assert "rebatched_size" not in (async_options or {}), (
            "rebatched_size is set by the DataLoader: use "
            "rebatched_worker_size"
        )
        combined = self._combined
        silently = (
            mode == DataLoaderMode.Async
            and not drop_last
            and combined is not None
            and combined > 1
        )
        if mode != DataLoaderMode.AsyncRebatched and not silently:
            return combined, False
        worker_size = worker_size or combined
        assert worker_size <= combined, (
            f"rebatched_worker_size ({worker_size}) must not be larger than "
            f"the combined batch size ({combined})"
        )
        return worker_size, True

    @property
    def combinedBatchSize(self):
        """Rows consumed by one call."""
        return self._combined

    @property
    def options(self):
        return self._options

    def synchronous(self):
        return _Synchronous(self)

    def __len__(self):
        if not getattr(self, "_rebatched", False):
            return super().__len__()
        # Of a sampler of the user's own, too, the dataset counts.
        is_share = isinstance(self.sampler, DistributedRange)
        count = len(self.sampler if is_share else self.dataset)
        rounding = 0 if self._drops_last else self._combined - 1
        return (count + rounding) // self._combined

    def __iter__(self):
        if self._accessor is not None:
            return iter(self._accessor)
        return super().__iter__()

    def _get_iterator(self):
        fetch = fetcherOf(self)
        if fetch is None:
            return super()._get_iterator()
        return BulkIterator(self, fetch)

    def terminate(self):
        """Ends the worker process of an asynchronous loader."""
        if self._accessor is not None:
            self._accessor.terminate()

    def __getstate__(self):
        return {**self.__dict__, "_accessor": None}

    def __del__(self):
        if self.__dict__.get("_accessor") is not None:
            self.terminate()
