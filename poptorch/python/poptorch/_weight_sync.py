# The weights of a wrapper: from the host to the device and back.
import torch

from ._dtypes import deviceDtype
from ._errors import createPoptorchError
from ._logging import logger
from ._replica_groups import groupingOf, resized, rowsOf
from ._traced_state import stateOf
from ._weights import PoptorchParameter, ownerOf


class WeightSync:
    """Mixin of PoplarExecutor."""

    def _expectWeights(self, traced):
        """What the program has of the model, and the host of what it has
        not: by name, as the model may have other tensors some day."""
        self._weight_specs = [
            (name, deviceDtype(t.dtype), t.shape)
            for name in self._executable.stateNames()
            for t in [traced.state_tensors[name]]
        ]
        self._first_weight = next(
            (traced.state_tensors[name] for name, *_ in self._weight_specs), None
        )
        self._counters = traced.counters
        self._frozen = traced.frozen

    @property
    def _weights(self):
        """The model's tensors, in the order of the executable's."""
        state = stateOf(self._user_model)
        return [self._ofModel(state, *spec) for spec in self._weight_specs]

    def _ofModel(self, state, name, dtype, shape):
        tensor = state.get(name)
        # Of parameters with replicaGrouping() the rows are checked elsewhere.
        skipped = 0 if tensor is None or groupingOf(tensor) is None else 1
        if tensor is None or tensor.shape[skipped:] != shape[skipped:]:
            now = "is gone" if tensor is None else f"is {list(tensor.shape)} now"
            raise createPoptorchError(
                f"{name} was {list(shape)} when the model was compiled and {now}: "
                "call destroy() to compile the model as it is"
            )
        return tensor

    def _toDevice(self, weights):
        """As the program has them."""
        return [
            weight.detach().to(dtype).contiguous()
            for weight, (_, dtype, _) in zip(weights, self._weight_specs)
        ]

    def copyWeightsToDevice(self):
        """Parameters and buffers, from the host."""
        executable = self._requireExecutable()
        self._host_is_stale = False
        self._uncounted = 0
        self._warnOfFrozen()
        weights = self._weights
        host = self._toDevice(weights)
        executable.writeWeights(
            [t.data_ptr() for t in host], [rowsOf(w) for w in weights]
        )

    def copyNamedBuffersToDevice(self):
        """The buffers that updatableNamedBuffers() names, from the host."""
        names = self._options._Popart.options.get("updatableNamedBuffers", [])
        if not names:
            raise createPoptorchError(
                "No named buffers marked as updatable via "
                "updatableNamedBuffers option"
            )
        executable = self._requireExecutable()
        host = [
            tensor if name in names else None
            for name, tensor in zip(
                executable.stateNames(), self._toDevice(self._weights)
            )
        ]
        executable.writeBuffers([0 if t is None else t.data_ptr() for t in host])

    def copyWeightsToHost(self):
        """Parameters and buffers, from the device."""
        executable = self._requireExecutable()
        self._host_is_stale = False
        weights = self._weights
        # A tensor that the device can write to is its own host copy.
        rows = executable.returnedRows()
        host = [resized(t, n) for t, n in zip(self._toDevice(weights), rows)]
        executable.readWeights([t.data_ptr() for t in host], rows)
        with torch.no_grad():
            for weight, copied in zip(weights, host):
                if weight.shape != copied.shape:
                    weight.data = copied.to(weight.dtype)
                elif weight.data_ptr() != copied.data_ptr():
                    weight.copy_(copied)
            state = stateOf(self._user_model)
            for name, increment in self._counters:
                state[name].add_(increment * self._uncounted)
        self._uncounted = 0

    def _warnOfFrozen(self):
        """Integers that forward() does not change are part of the program."""
        state = stateOf(self._user_model)
        for name, value in self._frozen:
            if not torch.equal(state.get(name, value), value):
                logger.warning(
                    "%s has changed since the model was compiled, and is a "
                    "constant of the program, as integers are: call destroy() "
                    "to compile it again", name,
                )  # fmt: skip

    def copyWeightsToHostIfNeeded(self):
        """Fetches trained weights that the host does not have yet."""
        if not self._host_is_stale or self._executable is None:
            return False
        if not self._executable.isAttached():
            return False
        self.copyWeightsToHost()
        return True

    def _takeTrainedWeights(self):
        """Inference: weights that a training wrapper of the same parameters
        has changed since the last call."""
        weight = self._first_weight
        if type(weight) is not PoptorchParameter:
            return
        trainer = ownerOf(weight)
        if trainer is None or trainer._weights_version == self._seen_version:
            return
        trainer.copyWeightsToHostIfNeeded()
        self._seen_version = trainer._weights_version
        self.copyWeightsToDevice()

    def load_state_dict(self, state_dict, strict=True):
        result = self._user_model.load_state_dict(state_dict, strict)
        if self.isAttachedToDevice():
            self.copyWeightsToDevice()
        return result
