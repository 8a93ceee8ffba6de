# The other process of an AsynchronousDataAccessor: iterates the dataset and puts
# what it yields into buffers in shared memory.
import copyreg
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


def _reduced(generator):
    return _generatorOf, (bytes(generator.get_state().tolist()),)


def _generatorOf(state):
    generator = torch.Generator()
    generator.set_state(torch.tensor(list(state), dtype=torch.uint8))
    return generator


# A shuffling loader has one, which torch cannot send to another process.
copyreg.pickle(torch.Generator, _reduced)


class WorkerSettings:
    """What the worker needs to know."""

    def __init__(self, buffer_size, load_indefinitely, early_preload,
                 rebatched_size, drop_last):  # fmt: skip
        self.buffer_size = buffer_size
        self.load_indefinitely = load_indefinitely
        self.early_preload = early_preload
        self.rebatched_size = rebatched_size
        self.drop_last = drop_last


class Channel:
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


def restored(structure, tensors):
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
            yield restored(structure, [t[:size] for t in joined])
            pending = [[t[size:] for t in joined]]
            count -= size
    if count and not drop_last:
        yield restored(structure, [torch.cat(p) for p in zip(*pending)])


def _endWithTheParent():
    """A parent that was killed asks for nothing any more, not even to stop."""
    multiprocessing.parent_process().join()
    os._exit(1)


def work(dataset, settings, channel):
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
        if isinstance(dataset, PickledFile):
            dataset = dataset.load()
        channel.sender.send(STARTED)
        _Worker(dataset, settings, channel).run()
    except (ConnectionError, EOFError) as error:
        # What torch meets first when a process dies that it fetches from.
        _report(channel, f"a DataLoader worker has ended unexpectedly ({error})")
    except BaseException as error:  # whatever it is
        _report(channel, error)


# The worker's first message: it has its dataset.
STARTED = ("started", None, None, None)


def _report(channel, error):
    """Tells the other side of the exception that is being handled."""
    text = f"{error}\n{traceback.format_exc()}"
    channel.sender.send(("error", text, None, None))


class PickledFile:
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
