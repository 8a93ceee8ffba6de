# Bodies of for_loop(), cond() and of gradients: calls that are recorded apart and
# become graphs of their own. What a body writes to is a copy: outside nothing has
# changed.
from ._errors import createPoptorchError


class Body:
    """The calls of one; the fields are those of poptorch/src/TraceRecord.hpp."""

    def __init__(self):
        self.inputs = []  # numbers, in the order of the caller's
        self.outputs = []
        self.calls = []
        # Storages that have another value or were looked at inside, with the
        # value that they have outside.
        self.touched = {}


class Bodies:
    """Those of a tracer: the ones that are being recorded, innermost last."""

    def __init__(self, tracer):
        self._tracer = tracer
        self._open = []
        self._branches = []  # of cond(): those that are complete

    def calls(self):
        """Where calls are recorded now."""
        return self._open[-1].calls if self._open else self._tracer.record.calls

    def allCalls(self):
        """All that were recorded where the next one will be, oldest first."""
        calls = list(self._tracer.record.calls)
        for body in self._open:
            calls += body.calls
        return calls

    def touch(self, storage):
        """Before a storage changes, or is replayed for one of its views."""
        if self._open:
            self._open[-1].touched.setdefault(storage, storage.number)

    def _begin(self, inputs=()):
        body = Body()
        self._open.append(body)
        for tensor in inputs:
            body.inputs.append(self._tracer.replaceValue(tensor))

    def _restore(self, body):
        """Outside of it everything is as it was before."""
        for storage, number in body.touched.items():
            storage.number = number
            storage.version += 1

    def _end(self, outputs):
        """The number of the body, which is complete, and the tensors that it
        reads besides its inputs."""
        tracer = self._tracer
        body = self._open[-1]
        body.outputs = [tracer.read(tracer.onIpu(t)) for t in outputs]
        self._open.pop()
        self._restore(body)
        tracer.record.bodies.append(body)
        return len(tracer.record.bodies) - 1, self._captured(body)

    def _captured(self, body):
        known = set(body.inputs)
        captured = []

        def use(numbers):
            for number in numbers:
                if number not in known and not self._tracer.isConstant(number):
                    known.add(number)
                    captured.append(number)

        for call in body.calls:
            use(numbersOf(call[1]))
            known.update(call[2])
        use(body.outputs)
        return captured

    # Gradients of torch.autograd.Function

    def gradient(self, function, values):
        """The number of the body that function(*gradients) is, the gradients
        being those of `values`, and the tensors that it captures."""
        body = Body()
        self._open.append(body)
        try:
            gradients = [self._tracer.like(value) for value in values]
            body.inputs = [gradient._number for gradient in gradients]
            results = function(*gradients)
            self._requireOuterStateKept(body)
        except BaseException:
            self._open.pop()
            self._restore(body)
            raise
        return self._end(results)

    def _requireOuterStateKept(self, body):
        owners = self._tracer.namesOfOwned()
        for storage in body.touched:
            if storage in owners and storage.number != body.touched[storage]:
                raise createPoptorchError(
                    f"backward() changes {owners[storage]}: what outlives a "
                    "step can be changed in forward() alone"
                )

    # torch.ops.poptorch.{start,end}_for_loop

    def startLoop(self, inputs):
        """From here on `inputs` are what a turn is given."""
        self._begin([self._tracer.onIpu(t) for t in inputs])

    def endLoop(self, outputs, inputs, count):
        tracer = self._tracer
        body, captured = self._end(outputs)
        before = [tracer.read(t) for t in inputs]
        after = tracer.record.bodies[body].outputs
        if len(before) != len(after):
            raise createPoptorchError(
                "poptorch.for_loop(): the body must return as many tensors as "
                f"it takes, {len(before)}, not {len(after)}"
            )
        for i, (a, b) in enumerate(zip(before, after)):
            self._requireSame(f"for_loop(): input {i} and output {i}", a, b)
        return tracer.recordSeveral(
            "poptorch::for_loop",
            [count, ("tensors", before), ("tensors", captured), body],
            [t._meta for t in inputs],
        )

    # torch.ops.poptorch.{start_if,start_else,end_if}_block

    def startThen(self):
        self._begin()

    def startElse(self, outputs):
        self._branches.append((*self._end(outputs), outputs))
        self._begin()

    def endElse(self, outputs, condition):
        tracer = self._tracer
        else_body, else_captured = self._end(outputs)
        then_body, then_captured, then_outputs = self._branches.pop()
        bodies = tracer.record.bodies
        ours, theirs = bodies[then_body].outputs, bodies[else_body].outputs
        if len(ours) != len(theirs):
            raise createPoptorchError(
                "poptorch.cond(): both bodies must return equally many "
                f"tensors, not {len(ours)} and {len(theirs)}"
            )
        for i, (a, b) in enumerate(zip(ours, theirs)):
            self._requireSame(f"cond(): the bodies' outputs {i}", a, b)
        captured = list(dict.fromkeys(then_captured + else_captured))
        return tracer.recordSeveral(
            "poptorch::cond",
            [
                ("tensor", tracer.read(tracer.onIpu(condition))),
                ("tensors", captured),
                then_body,
                else_body,
            ],
            [tracer.onIpu(t)._meta for t in then_outputs],
        )

    def _requireSame(self, what, first, second):
        a, b = (self._tracer.record.tensors[n] for n in (first, second))
        if a[:2] != b[:2]:
            raise createPoptorchError(
                f"poptorch.{what} must have the same type and shape, not "
                f"{a[0]}{list(a[1])} and {b[0]}{list(b[1])}"
            )


def numbersOf(arguments):
    """The tensors among a call's arguments."""
    for argument in arguments:
        if isinstance(argument, tuple):
            if argument[0] == "tensor":
                yield argument[1]
            elif argument[0] == "tensors":
                yield from (n for n in argument[1] if n >= 0)
