# The weights of a wrapper: from the host to the device and back.
import torch

from ._dtypes import toDevice
from ._errors import createPoptorchError
from ._logging import logger
from ._replica_groups import resized, rowsOf
from ._weights import PoptorchParameter, ownerOf


class WeightSync:
    """Mixin of PoplarExecutor."""

    def copyWeightsToDevice(self):
        """Parameters and buffers, from the host."""
        executable = self._requireExecutable()
        self._host_is_stale = False
        self._uncounted = 0
        self._warnOfFrozen()
        host = [toDevice(w) for w in self._weights]
        executable.writeWeights(
            [t.data_ptr() for t in host], [rowsOf(w) for w in self._weights]
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
            toDevice(weight) if name in names else None
            for name, weight in zip(executable.stateNames(), self._weights)
        ]
        executable.writeBuffers([0 if t is None else t.data_ptr() for t in host])

    def copyWeightsToHost(self):
        """Parameters and buffers, from the device."""
        executable = self._requireExecutable()
        self._host_is_stale = False
        # A tensor that the device can write to is its own host copy.
        rows = executable.returnedRows()
        host = [resized(toDevice(w), n) for w, n in zip(self._weights, rows)]
        executable.readWeights([t.data_ptr() for t in host], rows)
        with torch.no_grad():
            for weight, copied in zip(self._weights, host):
                if weight.shape != copied.shape:
                    weight.data = copied.to(weight.dtype)
                elif weight.data_ptr() != copied.data_ptr():
                    weight.copy_(copied)
            for counter, increment in self._counters:
                counter.add_(increment * self._uncounted)
        self._uncounted = 0

    def _warnOfFrozen(self):
        """Integers that forward() does not change are part of the program."""
        for name, tensor, value in self._frozen:
            if not torch.equal(tensor, value):
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
        if not self._weights:
            return
        weight = self._weights[0]
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
