# Compiled models in files: what the engine compiled, followed by a pickle of what
# the wrapper needs to go on from there.
import os
import pickle
import struct

import torch

from . import _structure, enums
from ._errors import createPoptorchError
from ._logging import logger
from ._version import VERSION

# At the end of a file: the pickle's length, then this.
_MAGIC = b"PopTorch metadata 1\n"
_LENGTH = struct.Struct("<Q")
_EXECUTABLE_MAGIC = b"PopART executable"


class CompiledInputs:
    """The arguments that a model was compiled for, without their values."""

    def __init__(self, binder, args, kwargs):
        self._tensors = []

        def keep(_, tensor):
            self._tensors.append((tensor.shape, tensor.dtype))
            return _structure.Slot(len(self._tensors) - 1)

        self._arguments = binder.mapTensors(args, kwargs, keep)

    def rebuild(self):
        """(args, kwargs) with zeros in every tensor."""
        tensors = [torch.zeros(s, dtype=d) for s, d in self._tensors]
        return _structure.rebuild(self._arguments, tensors)


def _invalid(filename, reason):
    return createPoptorchError(f"Invalid file {filename}: {reason}")


def _resolve(filename):
    """Directories have a file of a fixed name."""
    filename = os.path.expanduser(os.fspath(filename))
    if os.path.isdir(filename):
        filename = os.path.join(filename, "model.poptorch")
        logger.warning("The name given is a directory: using %s", filename)
    return filename


def _append(filename, metadata):
    try:
        pickled = pickle.dumps(metadata, protocol=4)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise createPoptorchError(
            f"The model cannot be pickled: {error}. Either make it importable "
            "from a module or save it with export_model=False"
        ) from error
    with open(filename, "ab") as file:
        file.write(pickled + _LENGTH.pack(len(pickled)) + _MAGIC)


def readMetadata(filename):
    """What save() wrote beside the executable."""
    filename = _resolve(filename)
    with open(filename, "rb") as file:
        start = file.read(len(_EXECUTABLE_MAGIC))
        if start != _EXECUTABLE_MAGIC:
            raise _invalid(filename, "it has no executable")
        file.seek(0, os.SEEK_END)
        trailer = _LENGTH.size + len(_MAGIC)
        size = file.tell()
        file.seek(max(0, size - trailer))
        end = file.read()
        if not end.endswith(_MAGIC):
            raise createPoptorchError(
                "Popef file does not contain Poptorch metadata."
            )
        (length,) = _LENGTH.unpack_from(end)
        if length > size - trailer:
            raise _invalid(filename, "it is shorter than it says")
        file.seek(size - trailer - length)
        pickled = file.read(length)
    try:
        metadata = pickle.loads(pickled)
    except Exception as error:  # whatever the classes in it raise
        raise _invalid(filename, error) from error
    if metadata["version"] != VERSION:
        raise createPoptorchError(
            "PopTorch version mismatch: File was created with version: "
            f"{metadata['version']} and this is version {VERSION}"
        )
    return metadata


class ExecutableFiles:
    """Mixin of PoplarExecutor: saving what was compiled, and loading it."""

    def compileAndExport(self, filename, *args, export_model=True, **kwargs):
        """Compiles for these arguments and saves."""
        with self._profiling.tracepoint("compileAndExport"):
            if not self.isCompiled():
                self._compile(*self._binder.bind(args, kwargs))
            self.save(filename, export_model=export_model)

    def save(self, filename, export_model=True, save_rng_state=True):
        """The executable; with `export_model` also the model, its options and
        optimiser, for poptorch.load()."""
        executable = self._requireExecutable()
        filename = _resolve(filename)
        os.makedirs(os.path.dirname(filename) or ".", exist_ok=True)
        self.copyWeightsToHostIfNeeded()
        rng_state = executable.randomState() if save_rng_state else None
        metadata = {
            "version": VERSION,
            "executable_inputs": self._compiled_inputs,
            "options": self._options,
            "training": self._training,
            "model": None,
            "optimizer": None,
            "optimizer_state": None,
            "random_seed": rng_state[0] if rng_state else None,
            "rng_state": rng_state,
        }
        if export_model:
            metadata["model"] = self._user_model
            metadata["optimizer"] = self._optimizer
            if self._training:
                metadata["optimizer_state"] = self._readOptimizerState()
        unfinished = f"{filename}.{os.getpid()}.part"
        try:
            with self._profiling.tracepoint("saveExecutableToFile"):
                executable.save(unfinished)
            _append(unfinished, metadata)
            os.replace(unfinished, filename)
        finally:
            if os.path.exists(unfinished):
                os.remove(unfinished)

    def loadExecutable(self, filename):
        """Takes what was compiled from a file, in place of compiling: the
        model and its options must be those that it was compiled from."""
        if self.isCompiled():
            raise createPoptorchError(
                "The model is compiled already: call destroy() to load another "
                "executable"
            )
        metadata = readMetadata(filename)
        args, kwargs = metadata["executable_inputs"].rebuild()
        with self._profiling.tracepoint("loadExecutable"):
            self._compile(
                *self._binder.bind(args, kwargs),
                executable_file=_resolve(filename),
            )
        attached = self.isAttachedToDevice()
        if attached and metadata["optimizer_state"] and self._training:
            self._writeOptimizerState(metadata["optimizer_state"])
        if attached and metadata["rng_state"] is not None:
            self._executable.setRandomState(metadata["rng_state"])


def load(filename, edit_opts_fn=None):
    """The wrapper that was saved, ready to run."""
    from ._poplar_executor import PoplarExecutor

    metadata = readMetadata(filename)
    assert metadata["model"] is not None, (
        f"{filename} is a valid PopTorch file but was created with "
        "'export_model=False' which means you need to re-create the PopTorch "
        "model using `poptorch.inferenceModel` or `poptorch.trainingModel` then "
        "call `poptorch_model.loadExecutable`."
    )
    options = metadata["options"].clone()
    options.deleteIfExists("ipu_version")
    if options.connection_type == enums.ConnectionType.Never:
        options.connectionType(enums.ConnectionType.Always)
    if edit_opts_fn is not None:
        edit_opts_fn(options)
    executor = PoplarExecutor(
        metadata["model"], options, metadata["training"], metadata["optimizer"]
    )
    executor.loadExecutable(filename)
    return executor
