# Models of which nothing is left for a device: what they return was known when
# they were traced.
_EFFECTS = ("poptorch::ipu_print_tensor", "poptorch::cpu_op")


def isEmpty(record, options):
    """Whether no output, input, buffer, anchor or print needs a program."""
    return not (
        record.outputs
        or record.written_back
        or options["anchors"]
        or any(call[0] in _EFFECTS for call in record.calls)
    )


class EmptyModel:
    """What an executable answers, without one."""

    def __init__(self):
        self._is_attached = True

    def outputInfos(self):
        return []

    writtenInputs = stateNames = tensorNames = outputInfos
    randomState = returnedRows = outputInfos

    def setRandomState(self, state):
        pass

    def run(self, inputs, outputs):
        pass

    writeWeights = readWeights = run

    def lastRunTimes(self):
        return None

    def isAttached(self):
        return self._is_attached

    def attach(self):
        self._is_attached = True

    def detach(self):
        self._is_attached = False
