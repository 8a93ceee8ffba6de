# The optimiser of a wrapper: its values to the device, its state from there and
# back.
import torch

from . import enums
from ._dtypes import DEVICE_DTYPES
from ._errors import createPoptorchError
from ._ipu_params import ipuParams
from ._logging import logger
from ._optimizer_state import OptimizerState
from ._optimizer_values import describeOptimizer, kindOf, trainedBy

# The one hyper-parameter that belongs to no parameter, and to no group either:
# loading state writes it to the device, the others come with the groups.
_LOSS_SCALING = "lossScaling_"


class OptimizerSync:
    """Mixin of PoplarExecutor."""

    def _describeOptimizer(self):
        names = {id(p): n for n, p in self._user_model.named_parameters()}
        automatic = self._options._Popart.options.get(
            "automaticLossScalingSettings.enabled", False
        )
        self._described = describeOptimizer(self._optimizer, names, automatic)
        return self._described

    def _namesTrainedBy(self, optimizer):
        """Of the parameters that are on the device."""
        trained = trainedBy(optimizer)
        names = self._executable.stateNames()
        return {
            name
            for name, weight in zip(names, self._weights)
            if weight.requires_grad and id(weight) in trained
        }

    def _requireSameParameters(self, optimizer):
        names = self._namesTrainedBy(optimizer)
        if names != self._trained:
            raise createPoptorchError(
                "Invalid optimizer: the model was compiled to train other "
                "parameters. The new optimizer leaves out "
                f"{sorted(self._trained - names)} and adds "
                f"{sorted(names - self._trained)}. Call destroy() on the "
                "wrapper to compile the model again."
            )

    def setOptimizer(self, optimizer):
        """Changed attributes, or another optimiser of the same kind."""
        if not self._training:
            raise createPoptorchError(
                "Inference models have no optimizer to set"
            )
        strategy = enums.MeanReductionStrategy.Running
        needs_running = getattr(optimizer, "accum_type", None) == torch.float16
        current = (
            self._options.Training
            .meanAccumulationAndReplicationReductionStrategy
        )
        combined = getattr(optimizer, "use_combined_accum", False)
        if (
            self.isCompiled()
            and needs_running != (current == strategy)
            and not combined
        ):
            raise ValueError(
                "Invalid optimizer: the new optimizer would require changing "
                "options.Training.meanAccumulationAndReplicationReduction"
                "Strategy after the model is compiled"
            )
        if self.isCompiled():
            self._requireSameParameters(optimizer)
        if optimizer is not self._optimizer:
            self._releaseOptimizer()
        self._optimizer = optimizer
        self._optimizer_attributes.check(optimizer, kindOf(optimizer))
        if self.isCompiled():
            self._executable.setOptimizer(self._describeOptimizer())
            self._bindOptimizer()

    def _bindOptimizer(self):
        """state_dict() of the optimiser reads from the device from now on;
        state that was loaded into it goes there."""
        optimizer = self._optimizer
        if not isinstance(optimizer, OptimizerState):
            return
        if optimizer.takeLoaded() and optimizer.ipu_state is not None:
            scalings = {
                name: value
                for name, value in (optimizer.ipu_param or {}).items()
                if name.startswith(_LOSS_SCALING)
            }
            self._writeOptimizerState({**optimizer.ipu_state, **scalings})
        optimizer.bindToExecutor(self._pullOptimizerState)

    def _releaseOptimizer(self):
        """The optimiser keeps what the device has for it."""
        optimizer = self._optimizer
        if isinstance(optimizer, OptimizerState) and self.isCompiled():
            self._pullOptimizerState(optimizer)
            optimizer.bindToExecutor(None)

    def _pullOptimizerState(self, optimizer):
        if not self.isCompiled() or optimizer is not self._optimizer:
            return
        values = self._readOptimizerState()
        scalars = {
            name
            for name, _, _, is_scalar in self._executable.optimizerTensors()
            if is_scalar
        }
        optimizer.ipu_state = {
            n: t for n, t in values.items() if n not in scalars
        }
        trained = [
            name
            for name in self._executable.stateNames()
            if name in self._trained
        ]
        optimizer.ipu_param = {
            **ipuParams(self._described, trained, self._options),
            **{n: values[n] for n in scalars if n.startswith(_LOSS_SCALING)},
        }

    def _readOptimizerState(self):
        """Tensors by the device's names."""
        executable = self._requireExecutable()
        values = {
            name: torch.empty(shape, dtype=DEVICE_DTYPES[dtype])
            for name, dtype, shape, _ in executable.optimizerTensors()
        }
        executable.readOptimizerState([t.data_ptr() for t in values.values()])
        return values

    def _writeOptimizerState(self, values):
        executable = self._requireExecutable()
        kept = []  # alive until the device has them
        for name, dtype, shape, is_scalar in executable.optimizerTensors():
            tensor = values.get(name)
            if tensor is None:
                if not is_scalar:
                    logger.warning(
                        "writeOptimizerState: ignoring missing state %s", name
                    )
                kept.append(None)
                continue
            if list(tensor.shape) != list(shape):
                raise createPoptorchError(
                    f"The optimizer state {name} has the shape "
                    f"{list(tensor.shape)}, the model's has {list(shape)}"
                )
            kept.append(tensor.to(DEVICE_DTYPES[dtype]).contiguous())
        executable.writeOptimizerState(
            [0 if t is None else t.data_ptr() for t in kept]
        )
