# Loads data in a process of its own into a ring of buffers in shared memory.
import atexit
import multiprocessing
import os
import signal

from ._async_worker import (
    STARTED,
    Channel,
    PickledFile,
    WorkerSettings,
    restored,
    work,
)
from ._errors import createPoptorchError
from ._options_base import requireInstance, requirePositive
from .enums import SharingStrategy

_JOIN_SECONDS = 10
_POLL_SECONDS = 0.05
_NOT_STARTED = "AsynchronousDataAccessor worker thread failed to start"
_METHODS = {
    SharingStrategy.SharedMemory: "spawn",
    SharingStrategy.FileSystem: "spawn",
    SharingStrategy.Fork: "fork",
    SharingStrategy.ForkServer: "forkserver",
}


class AsynchronousDataAccessor:
    """Iterates a dataset in another process. What it yields is overwritten
    after the next element was asked for: clone it to keep it."""

    def __init__(
        self,
        dataset,
        buffer_size=3,
        miss_sleep_time_in_ms=0.1,
        load_indefinitely=True,
        early_preload=False,
        sharing_strategy=SharingStrategy.ForkServer,
        rebatched_size=None,
    ):
        from ._data_loader import DataLoader

        self._process = None
        requireInstance("sharing_strategy", sharing_strategy, SharingStrategy)
        requirePositive("buffer_size", buffer_size)
        drop_last = True
        if isinstance(dataset, DataLoader):
            drop_last = dataset._drops_last
            self._checkLoader(dataset, rebatched_size)
            worker_dataset = dataset.synchronous()
        else:
            worker_dataset = dataset
        assert rebatched_size is None or rebatched_size > 1, (
            "rebatched_size must be None or greater than 1"
        )
        self._dataset = dataset
        self._rebatched_size = rebatched_size
        self._sleep = miss_sleep_time_in_ms / 1000
        self._epoch = 0
        self._consumed = 0
        self._has_ended = True
        self._held = False  # a slot is in the user's hands
        self._slots = None
        settings = WorkerSettings(
            buffer_size, load_indefinitely, early_preload, rebatched_size,
            drop_last,
        )  # fmt: skip
        self._start(worker_dataset, settings, sharing_strategy)

    @staticmethod
    def _checkLoader(loader, rebatched_size):
        if loader._accessor is not None:
            raise createPoptorchError(
                "The DataLoader already uses an AsynchronousDataAccessor"
            )
        combined = loader.combinedBatchSize
        assert (
            loader._drops_last
            or rebatched_size is not None
            or combined is None
            or combined == 1
        ), (
            "The AsynchronousDataAccessor with drop_last=False only works if "
            "'rebatched_size' is specified"
        )

    def _start(self, dataset, settings, strategy):
        context = multiprocessing.get_context(_METHODS[strategy])
        self._channel = Channel(context, settings.buffer_size)
        try:
            if strategy == SharingStrategy.FileSystem:
                dataset = PickledFile(dataset)
            self._process = context.Process(
                target=work, args=(dataset, settings, self._channel)
            )
            self._process.start()
        except Exception as error:  # the dataset cannot be sent
            self._process = None
            reason = " ".join(str(error).split())
            raise createPoptorchError(f"{_NOT_STARTED}: {reason}") from error
        self._awaitStart()
        atexit.register(self.terminate)

    def _awaitStart(self):
        """The worker may die while it unpickles the dataset."""
        receiver = self._channel.receiver
        while not receiver.poll(_POLL_SECONDS):
            if not self._process.is_alive() and not receiver.poll():
                self.terminate()
                raise createPoptorchError(
                    f"{_NOT_STARTED}: it could not read the dataset (see above)."
                    " Classes and functions that it uses must be importable, "
                    'and programs need `if __name__ == "__main__":`'
                )
        message = receiver.recv()
        if message != STARTED:
            self.terminate()
            raise createPoptorchError(f"{_NOT_STARTED}: {message[1]}")

    def __len__(self):
        if self._rebatched_size and not hasattr(
            self._dataset, "combinedBatchSize"
        ):
            return len(self._dataset) // self._rebatched_size
        return len(self._dataset)

    def __iter__(self):
        untouched = self._epoch > 0 and not self._has_ended
        if untouched and self._consumed == 0:
            return self
        self._releaseSlot()
        self._epoch += 1
        self._consumed = 0
        self._has_ended = False
        self._channel.ask(self._epoch)
        return self

    def __next__(self):
        if self._epoch == 0:
            iter(self)
        self._releaseSlot()
        while True:
            kind, detail, value, rows = self._receive()
            if kind == "error":
                raise AssertionError(
                    f"An error occurred in the data fetcher: {detail}"
                )
            if kind == "slots":
                self._structure = detail
                self._slots = value
            elif detail != self._epoch:
                if kind == "item":  # of an epoch that was given up
                    self._channel.free.release()
            elif kind == "end":
                self._has_ended = True
                raise StopIteration
            else:
                self._held = True
                self._consumed += 1
                return self._element(self._slots[value], rows)

    def _element(self, slot, rows):
        tensors = [
            tensor if count is None else tensor[:count]
            for tensor, count in zip(slot, rows)
        ]
        return restored(self._structure, tensors)

    def _receive(self):
        receiver = self._channel.receiver
        while not receiver.poll(max(self._sleep, _POLL_SECONDS)):
            is_alive = self._process is not None and self._process.is_alive()
            # What it said last may have come since.
            assert is_alive or receiver.poll(), (
                "An error occurred in the data fetcher: it has ended"
            )
        return receiver.recv()

    def _releaseSlot(self):
        if self._held:
            self._held = False
            self._channel.free.release()

    def terminate(self):
        """Ends the worker process."""
        process = self._process
        self._process = None
        if process is None:
            return
        self._channel.stop()
        process.join(_JOIN_SECONDS)
        if process.is_alive():
            os.kill(process.pid, signal.SIGINT)
            process.join(_JOIN_SECONDS)
        if process.is_alive():
            process.terminate()
        atexit.unregister(self.terminate)

    def __del__(self):
        self.terminate()
