# Loads data in a process of its own into a ring of buffers in shared memory.
import atexit
import multiprocessing
import os
import pickle
import signal
import tempfile
import threading
import traceback

import torch
import torch.multiprocessing  # lets tensors pass between processes

from . import _structure
from ._errors import createPoptorchError
from .enums import SharingStrategy

_JOIN_SECONDS = 10
_METHODS = {
    SharingStrategy.SharedMemory: "spawn",
    SharingStrategy.FileSystem: "spawn",
    SharingStrategy.Fork: "fork",
    SharingStrategy.ForkServer: "forkserver",
}


class _Settings:
    """What the worker needs to know."""

    def __init__(self, buffer_size, load_indefinitely, early_preload,
                 rebatched_size, drop_last):  # fmt: skip
        self.buffer_size = buffer_size
        self.load_indefinitely = load_indefinitely
        self.early_preload = early_preload
        self.rebatched_size = rebatched_size
        self.drop_last = drop_last


class _Channel:
    """What both processes share: messages, free slots, the wanted epoch."""

    def __init__(self, context, buffer_size):
        self.receiver, self.sender = context.Pipe(duplex=False)
        self.free = context.Semaphore(buffer_size)
        self.wanted = context.Value("q", 0)  # epochs that were asked for
        self.asked = context.Condition()
        self.stopping = context.Event()

    def ask(self, epoch):
        with self.asked:
            self.wanted.value = epoch
            self.asked.notify_all()

    def stop(self):
        self.stopping.set()
        with self.asked:
            self.asked.notify_all()
        self.free.release()


def _flatten(item):
    """(structure, tensors) of an element of the dataset."""
    if isinstance(item, torch.Tensor):
        return "tensor", [item]
    if isinstance(item, dict):
        return ("dict", list(item)), list(item.values())
    if isinstance(item, (list, tuple)):
        return "list", list(item)
    parser = _structure.findParser(item)
    if parser is not None:
        return ("custom", item), list(parser.yieldTensors(item))
    return "list", [item]


def _restore(structure, tensors):
    if structure == "tensor":
        return tensors[0]
    if structure == "list":
        return list(tensors)
    kind, detail = structure
    if kind == "dict":
        return dict(zip(detail, tensors))
    parser = _structure.findParser(detail)
    return parser.reconstruct(detail, iter(tensors))


def _requireTensors(tensors):
    for i, tensor in enumerate(tensors):
        assert isinstance(tensor, torch.Tensor), (
            f"Tensor at index {i} is not a torch tensor (got {type(tensor)}): "
            "a flat container of tensors is required"
        )


class _Worker:
    """Runs in the other process."""

    def __init__(self, dataset, settings, channel):
        self._dataset = dataset
        self._settings = settings
        self._channel = channel
        self._slots = None
        self._slot = 0

    def run(self):
        settings = self._settings
        epoch = 1
        while not self._channel.stopping.is_set():
            free_running = settings.early_preload if epoch == 1 else (
                settings.load_indefinitely
            )  # fmt: skip
            if not free_running:
                self._waitFor(epoch)
            epoch = max(epoch, self._channel.wanted.value)
            self._load(epoch)
            epoch += 1

    def _waitFor(self, epoch):
        channel = self._channel
        with channel.asked:
            while (
                channel.wanted.value < epoch and not channel.stopping.is_set()
            ):
                channel.asked.wait()

    def _isCancelled(self, epoch):
        return (
            self._channel.stopping.is_set()
            or self._channel.wanted.value > epoch
        )

    def _load(self, epoch):
        batches = self._dataset
        if self._settings.rebatched_size:
            batches = _rebatched(
                batches, self._settings.rebatched_size, self._settings.drop_last
            )
        is_empty = True
        for item in batches:
            is_empty = False
            structure, tensors = _flatten(item)
            if self._slots is None:
                self._allocate(structure, tensors)
            self._channel.free.acquire()
            if self._isCancelled(epoch):
                self._channel.free.release()
                return
            self._store(epoch, tensors)
        if is_empty and self._slots is None:
            raise RuntimeError("The Dataset is empty")
        self._channel.sender.send(("end", epoch, None, None))

    def _allocate(self, structure, tensors):
        _requireTensors(tensors)
        self._slots = [
            [torch.empty_like(t).share_memory_() for t in tensors]
            for _ in range(self._settings.buffer_size)
        ]
        self._channel.sender.send(("slots", structure, self._slots, None))

    def _store(self, epoch, tensors):
        slot = self._slots[self._slot]
        rows = []
        for target, tensor in zip(slot, tensors):
            short = tensor.dim() and tensor.shape[0] < target.shape[0]
            rows.append(tensor.shape[0] if short else None)
            (target[: tensor.shape[0]] if short else target).copy_(tensor)
        self._channel.sender.send(("item", epoch, self._slot, rows))
        self._slot = (self._slot + 1) % len(self._slots)


def _rebatched(batches, size, drop_last):
    """Rows of `batches`, cut anew into batches of `size`."""
    pending = []
    count = 0
    structure = None
    for item in batches:
        structure, tensors = _flatten(item)
        _requireTensors(tensors)
        pending.append(tensors)
        count += tensors[0].shape[0]
        while count >= size:
            joined = [torch.cat(parts) for parts in zip(*pending)]
            yield _restore(structure, [t[:size] for t in joined])
            pending = [[t[size:] for t in joined]]
            count -= size
    if count and not drop_last:
        yield _restore(structure, [torch.cat(p) for p in zip(*pending)])


def _endWithTheParent():
    """A parent that was killed asks for nothing any more, not even to stop."""
    multiprocessing.parent_process().join()
    os._exit(1)


def _work(dataset, settings, channel):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_endWithTheParent, daemon=True).start()
    # A loader's own workers are copies of this process, which has imported what
    # they need.
    multiprocessing.set_start_method("fork", force=True)
    torch.set_num_threads(1)
    try:
        _serve(dataset, settings, channel)
    except BaseException as error:
        # torch raises from a signal handler when a process of its dies, which
        # may be while another error is reported.
        _report(channel, error)


def _serve(dataset, settings, channel):
    try:
        if isinstance(dataset, _PickledFile):
            dataset = dataset.load()
        _Worker(dataset, settings, channel).run()
    except (ConnectionError, EOFError) as error:
        # What torch meets first when a process dies that it fetches from.
        _report(channel, f"a DataLoader worker has ended unexpectedly ({error})")
    except BaseException as error:  # whatever it is
        _report(channel, error)


def _report(channel, error):
    """Tells the other side of the exception that is being handled."""
    text = f"{error}\n{traceback.format_exc()}"
    channel.sender.send(("error", text, None, None))


class _PickledFile:
    """A dataset that travels in a file."""

    def __init__(self, dataset):
        handle, self._path = tempfile.mkstemp(suffix=".dataset")
        with os.fdopen(handle, "wb") as file:
            pickle.dump(dataset, file)

    def load(self):
        with open(self._path, "rb") as file:
            dataset = pickle.load(file)
        os.unlink(self._path)
        return dataset


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
        settings = _Settings(
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
        self._channel = _Channel(context, settings.buffer_size)
        if strategy == SharingStrategy.FileSystem:
            dataset = _PickledFile(dataset)
        self._process = context.Process(
            target=_work, args=(dataset, settings, self._channel)
        )
        self._process.start()
        assert self._process.is_alive(), (
            "AsynchronousDataAccessor worker thread failed to start "
            "(Check above for details)"
        )
        atexit.register(self.terminate)

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
        return _restore(self._structure, tensors)

    def _receive(self):
        receiver = self._channel.receiver
        while not receiver.poll(max(self._sleep, 0.05)):
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
