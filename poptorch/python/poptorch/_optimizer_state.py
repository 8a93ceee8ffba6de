# The device's part of an optimiser's state_dict().


class OptimizerState:
    """Mixin: what the device keeps for an optimiser, besides torch's own."""

    ipu_state = None  # tensors: momentum, accumulators
    ipu_param = None  # streamed scalars
    _pull_state = None  # reads both from the device
    _is_loaded = False  # they came from a file and the device has others

    def bindToExecutor(self, pull_state):
        self._pull_state = pull_state

    def takeLoaded(self):
        """Whether state was loaded since the last time."""
        is_loaded, self._is_loaded = self._is_loaded, False
        return is_loaded

    def state_dict(self):
        """torch's dictionary with `ipu_state` and `ipu_param`."""
        if self._pull_state is not None and not self._is_loaded:
            self._pull_state(self)
        return {
            "ipu_state": self.ipu_state,
            "ipu_param": self.ipu_param,
            **super().state_dict(),
        }

    def load_state_dict(self, state):
        if not state:
            raise RuntimeError(
                "Cannot load optimizer state dictionary because it is empty."
            )
        if "ipu_state" not in state or "ipu_param" not in state:
            raise RuntimeError(
                "Only IPU optimizer states can be loaded onto the IPU."
            )
        self._is_loaded = True
        self.ipu_state = state["ipu_state"]
        self.ipu_param = state["ipu_param"]
        super().load_state_dict(
            {k: v for k, v in state.items() if not k.startswith("ipu_")}
        )

    def __getstate__(self):
        state = super().__getstate__() if hasattr(
            super(), "__getstate__"
        ) else self.__dict__
        return {
            **state,
            **{
                k: v for k, v in self.__dict__.items() if k != "_pull_state"
            },
        }
