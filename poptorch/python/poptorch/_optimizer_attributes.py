# Attributes of optimisers that mean nothing to the device, such as those that a
# scheduler adds: each is mentioned once.
from ._logging import logger
from ._optimizer_state import OptimizerState


class AttributeTracker:
    """Knows the attributes that the first optimiser came with."""

    def __init__(self, is_relaxed):
        self._log = logger.debug if is_relaxed else logger.warning
        self._known = {}  # names by what they are attributes of

    def check(self, optimizer, kind):
        """The first optimiser's are expected; of later ones, and of the first
        when it has changed, new names are not."""
        is_first = not self._known
        for place, names in _attributes(optimizer):
            new = [n for n in names if n not in self._known.get(place, ())]
            self._known.setdefault(place, set()).update(new)
            if new and not is_first:
                self._log(
                    "Ignoring unexpected %s in %s optimizer: %s",
                    place, kind.upper(), new,
                )  # fmt: skip


def _attributes(optimizer):
    yield "default group variable", list(optimizer.defaults)
    for i, group in enumerate(optimizer.param_groups):
        yield f"group {i} attribute", list(group)
    yield "optimizer attribute", [
        n for n in vars(optimizer) if not hasattr(OptimizerState, n)
    ]
