# The wrapper that runs a model on the device: compiles it on the first call, moves
# weights when they are needed, runs.
import torch

from . import _structure, enums
from ._blocks import module_repr
from ._cache_lock import distributedCacheLock
from ._compilation import backendOptions, compileTrace
from ._dtypes import DEVICE_DTYPES
from ._errors import createPoptorchError
from ._executable_files import CompiledInputs, ExecutableFiles
from ._inputs import ArgumentBinder, InputPlan, microBatch
from ._logging import logger
from ._optimizer_attributes import AttributeTracker
from ._optimizer_sync import OptimizerSync
from ._optimizer_values import kindOf
from ._progress import ProgressBar
from ._record_checks import checkRecord
from ._replica_groups import offerGrouping
from ._run_times import RunTimes
from ._trace_model import modesOf, traceModel
from ._weight_sync import WeightSync
from ._weights import (
    requireTensorBuffers,
    shallowCopy,
    unwrapModel,
    wrapModel,
)
from .profiling import Channel

# Methods that the system analyser shows.
_INSTRUMENTED = (
    "copyWeightsToHost", "copyWeightsToDevice", "setOptimizer", "compile",
    "destroy",
)  # fmt: skip
_NO_EXECUTABLE = "Model has not been compiled or has been destroyed."


def _noBackward(*_, **__):
    raise createPoptorchError(
        "backward() cannot be called explicitly on outputs of a PopTorch model. "
        "If you're using a trainingModel wrapper, the backward pass is performed "
        "automatically when invoking the forward pass. If you're using an "
        "inferenceModel wrapper, use a trainingModel wrapper instead."
    )


class PoplarExecutor(ExecutableFiles, OptimizerSync, RunTimes, WeightSync):
    """A model on the device. Made by trainingModel() and inferenceModel()."""

    def __init__(self, model, options, training, optimizer=None):
        self._user_model = model
        self._is_module = isinstance(model, torch.nn.Module)
        self._training = training
        self._optimizer = optimizer
        options._freeze()
        self._options = options.clone()
        self._resolveOptions()
        self._options._freeze()
        if self._is_module:
            requireTensorBuffers(model)
            # Plain attributes such as `training` are this wrapper's own.
            self._model = shallowCopy(model)
            function = self._model.forward
        else:
            self._model = function = model
        self._binder = ArgumentBinder(function)
        self._executable = None
        self._host_is_stale = False
        self._uncounted = 0  # micro-batches since the host has the weights
        self._weights_version = 0  # training: steps that changed the weights
        self._seen_version = 0  # inference: the trained weights it has
        self._anchored = {}
        self._progress = None
        kind = "trainingModel" if training else "inferenceModel"
        self._profiling = Channel(f"poptorch.{kind}")
        self._profiling.instrument(self, *_INSTRUMENTED)
        if training:
            self._optimizer_attributes = AttributeTracker(
                options.relax_optimizer_checks
            )
            self._optimizer_attributes.check(optimizer, kindOf(optimizer))
            wrapModel(model, self)
            self._accumulation = options.Training.gradient_accumulation
        else:
            self._accumulation = 1

    def _resolveOptions(self):
        options = self._options
        if options.defaultOutputMode():
            mode = enums.OutputMode
            options.outputMode(mode.Final if self._training else mode.All)
        if not options.exists("model_name"):
            options.modelName("training" if self._training else "inference")
        accum_type = getattr(self._optimizer, "accum_type", torch.float32)
        combined = getattr(self._optimizer, "use_combined_accum", False)
        if accum_type == torch.float16 and not combined:
            options.Training.setMeanAccumulationAndReplicationReductionStrategy(
                enums.MeanReductionStrategy.Running
            )

    # Compiling.

    def compile(self, *args, **kwargs):
        """Traces and compiles without running."""
        if self.isCompiled():
            logger.warning(
                "Call to compile() ignored: the executable is already compiled"
            )
            return
        self._compile(*self._binder.bind(args, kwargs))

    def _compile(self, args, kwargs, executable_file=""):
        options = self._options
        batch = self._binder.mapTensors(
            args,
            kwargs,
            lambda name, tensor: microBatch(
                name, tensor, options, self._accumulation
            ),
        )
        self._progress = ProgressBar()
        with self._profiling.tracepoint("graphPreprocessing"):
            traced = traceModel(
                self._model,
                self._binder,
                batch,
                options,
                self._optimizer if self._training else None,
            )
        checkRecord(traced.record, options)
        description = self._describeOptimizer() if self._training else None
        show = self._progress if options._show_progress_bar else None
        try:
            with (
                self._profiling.tracepoint("modelCompilation"),
                distributedCacheLock(self._user_model, options),
            ):
                self._executable = compileTrace(
                    traced.record,
                    {
                        **backendOptions(options, self._training),
                        "executable_file": executable_file,
                    },
                    description,
                    show,
                )
        finally:
            self._progress.close()
        self._finishCompilation(traced, args, kwargs)
        if options.connection_type != enums.ConnectionType.Never:
            self.copyWeightsToDevice()
            self._bindOptimizer()

    def _finishCompilation(self, traced, args, kwargs):
        executable = self._executable
        self._plan = InputPlan(
            self._binder, args, kwargs, self._options, self._accumulation
        )
        self._compiled_inputs = CompiledInputs(self._binder, args, kwargs)
        self._structure = traced.structure
        self._modes = modesOf(self._model)
        infos = [
            (tuple(shape), DEVICE_DTYPES[dtype])
            for dtype, shape in executable.outputInfos()
        ]
        self._output_infos = infos
        self._output_count = len(traced.record.outputs)
        self._written_inputs = [p for p, _ in executable.writtenInputs()]
        self._host_calls = traced.host_calls
        for number, call in enumerate(self._host_calls):
            executable.connectHostFunction(number, call.run)
        state = {number for _, number, *_ in traced.record.state}
        self._changes_state = self._training or any(
            number in state for number, _ in traced.record.written_back
        )
        self._expectWeights(traced)
        if self._training:
            self._trained = self._namesTrainedBy(self._optimizer)

    def isCompiled(self):
        return self._executable is not None

    def _requireExecutable(self):
        if self._executable is None:
            raise createPoptorchError(_NO_EXECUTABLE)
        return self._executable

    # Running.

    def __call__(self, *args, **kwargs):
        if self._options.connection_type == enums.ConnectionType.Never:
            raise AssertionError(
                "Trying to run a model on an offline device "
                "(ConnectionType.Never): use model.compile(inputs) instead of "
                "model(inputs)"
            )
        if self._executable is None:
            self._compile(*self._binder.bind(args, kwargs))
        elif not self._executable.isAttached():
            self.attachToDevice()
        if self._training:
            self._host_is_stale = True
            self._weights_version += 1
            self._uncounted += (
                self._options.device_iterations * self._accumulation
            )
        else:
            self._takeTrainedWeights()
        tensors = self._plan.tensors(args, kwargs)
        outputs = [
            torch.empty(shape, dtype=dtype)
            for shape, dtype in self._output_infos
        ]
        with self._profiling.tracepoint("modelExecution"):
            self._executable.run(
                [t.data_ptr() for t in tensors],
                [o.data_ptr() for o in outputs],
            )
        for call in self._host_calls:
            call.raiseError()
        self._logCycles()
        return self._returnOutputs(outputs, args, kwargs)

    def _returnOutputs(self, outputs, args, kwargs):
        if len(outputs) > self._output_count:
            self._storeExtraOutputs(outputs, args, kwargs)
        for output in outputs:
            output.backward = _noBackward
        return _structure.rebuild(self._structure, outputs)

    def _storeExtraOutputs(self, outputs, args, kwargs):
        """Inputs changed in place go back to the caller; anchors are kept."""
        position = self._output_count
        if self._written_inputs:
            tensors = self._plan.originalTensors(args, kwargs)
            for index in self._written_inputs:
                tensors[index].copy_(outputs[position])
                position += 1
        names = self._options("anchored_tensors")
        self._anchored = dict(zip(names, outputs[position:]))

    def getAnchoredTensor(self, short_name):
        """The value of an anchored tensor after the latest call."""
        assert short_name in self._anchored, (
            f"No tensor with name {short_name} found."
        )
        return self._anchored[short_name]

    # The device.

    def isAttachedToDevice(self):
        return self.isCompiled() and self._executable.isAttached()

    def attachToDevice(self):
        """Acquires the IPUs again after detachFromDevice()."""
        executable = self._requireExecutable()
        if executable.isAttached():
            raise createPoptorchError("Device is already attached")
        executable.attach()
        self.copyWeightsToDevice()

    def detachFromDevice(self):
        """Saves the device's state and releases the IPUs."""
        executable = self._requireExecutable()
        if not executable.isAttached():
            raise createPoptorchError("Device is not attached")
        if self._changes_state:
            self.copyWeightsToHost()
        if self._training:
            self._pullOptimizerState(self._optimizer)
        executable.detach()

    def destroy(self):
        """Releases the device and the executable; the model is the user's
        own again."""
        if self.isCompiled() and self._training:
            self.copyWeightsToHostIfNeeded()
            self._releaseOptimizer()
        self._executable = None
        self._host_is_stale = False
        if self._training:
            unwrapModel(self._user_model, self)

    # The mode that the model is traced in.

    def train(self, mode=True):
        """As of the model; what is compiled stays as it is."""
        self._user_model.train(mode)
        # The traced copy has a flag of its own.
        self._model.training = self._user_model.training
        if self.isCompiled() and self._modes != modesOf(self._model):
            logger.warning(
                "The model was compiled in another mode, which train() and "
                "eval() do not change: call destroy() to compile it again"
            )
        return self

    def eval(self):
        return self.train(False)

    # What can be asked.

    @property
    def model(self):
        return self._user_model

    @property
    def options(self):
        return self._options

    @property
    def rng_state(self):
        """[seed, *state]: where the device's random numbers have got to."""
        return self._requireExecutable().randomState()

    @rng_state.setter
    def rng_state(self, state):
        self._requireExecutable().setRandomState(list(state))

    def getTensorNames(self):
        assert self.isCompiled(), (
            "Model must be compiled before calling getTensorNames"
        )
        return self._executable.tensorNames()

    def compilationTime(self):
        if not self.isCompiled():
            raise createPoptorchError(
                "Please compile the model before obtaining compilation time."
            )
        if not self._options._show_progress_bar:
            raise createPoptorchError(
                "Please set showCompilationProgressBar option to obtain "
                "compilation time."
            )
        return self._progress.elapsed

    def getProfileSummary(self):
        """What the model costs on the machine, as poplar::Engine prints it:
        an addition of Aspen."""
        return self._requireExecutable().summary()

    def _debugGetPopartIR(self):
        return self._requireExecutable().serializeIr()

    def __repr__(self):
        if self._is_module:
            return module_repr(self._user_model)
        return repr(self._user_model)

    def __getattr__(self, name):
        """Everything else is the user's model."""
        if name.startswith("__") or "_user_model" not in self.__dict__:
            raise AttributeError(name)
        value = getattr(self._user_model, name)
        if isinstance(value, torch.nn.Parameter):
            offerGrouping(value)
        return value
