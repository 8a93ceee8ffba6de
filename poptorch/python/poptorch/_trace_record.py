# What a trace consists of.


class TraceRecord:
    """What was seen; the fields are those of poptorch/src/TraceRecord.hpp."""

    def __init__(self):
        self.tensors = []  # (type, shape, requires_grad), by number
        self.state = []  # (name, number, is_parameter, host tensor, grouping)
        self.inputs = []  # (name, number)
        self.outputs = []  # numbers
        self.calls = []  # (op, arguments, results, (ipu, stage, phase,
        # block), scope, source line, outline attributes)
        self.written_back = []  # (number of the state or input, value)
        self.constants = []  # (number, bytes)
        self.attributes = {}  # of custom operators, by the name calls have
        self.statistics = set()  # names of the state that norms keep
        self.bodies = []  # of loops and conditions, by number
