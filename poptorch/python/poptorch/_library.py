# The operator library torch.ops.poptorch: recorded when traced, and with a plain
# torch meaning so that annotated models also run on the CPU.
import torch

from ._active_tracer import activeTracer
from ._composites import registerWhole
from ._errors import createPoptorchError


def _first(tensor, *_):
    return tensor


def _identityLoss(tensor, reduction):
    return (torch.sum, torch.mean, torch.clone)[reduction](tensor)


def _dynamicSlice(tensor, dim, start, size, step):
    begin = int(start)
    return tensor.narrow(dim, begin, size)[
        tuple(
            slice(None, None, step) if d == dim % tensor.dim() else slice(None)
            for d in range(tensor.dim())
        )
    ]


def _dynamicUpdate(tensor, source, dim, start, size):
    result = tensor.clone()
    result.narrow(dim, int(start), size).copy_(source)
    return result


def _internalCast(tensor, dtype):
    return tensor.to({"FLOAT": torch.float, "FLOAT16": torch.half}[dtype])


def _ctcSearch(probs, lengths, blank, beam_width, top_paths):
    """Results of the right shapes: the search runs on the device only."""
    steps, samples, _ = probs.shape
    counts = torch.zeros(
        samples, top_paths, dtype=torch.int32, device=probs.device
    )
    return (
        torch.zeros_like(counts, dtype=probs.dtype),
        counts,
        counts.unsqueeze(-1).repeat(1, 1, steps),
    )


def _customOperation(inputs, name, domain, version, count, examples, attributes):
    return [torch.zeros_like(e) for e in examples]


# Schema and CPU meaning of the operators on values.
_VALUES = (
    ("nop(Tensor self) -> Tensor", _first),
    ("ipu_print_tensor(Tensor self, str title, int print_gradient, "
     "int summarise_threshold, int edge_items, int max_line_width, "
     "int digits, int float_format, str separator, str open_bracket, "
     "str close_bracket) -> Tensor", _first),
    ("set_matmul_serialization(Tensor matmul, str mode, int factor, "
     "bool keep_precision) -> Tensor", _first),
    ("set_overlap_for_input(Tensor t, str mode) -> Tensor", _first),
    ("set_overlap_for_output(Tensor t, str mode) -> Tensor", _first),
    ("recomputation_checkpoint(Tensor self) -> Tensor", _first),
    ("set_available_memory(Tensor t, float mem) -> Tensor", _first),
    ("identity_loss(Tensor x, int reduction) -> Tensor", _identityLoss),
    ("internal_cast(Tensor self, str dtype) -> Tensor", _internalCast),
    ("dynamic_slice(Tensor(a) self, int dim, Tensor start, int size, int step) "
     "-> Tensor(a)", _dynamicSlice),
    ("dynamic_update(Tensor self, Tensor src, int dim, Tensor start, int size)"
     " -> Tensor", _dynamicUpdate),
    ("ctc_beam_search_decoder(Tensor probs, Tensor lengths, int blank, "
     "int beam_width, int top_paths) -> (Tensor, Tensor, Tensor)", _ctcSearch),
    ("custom_operation(Tensor[] inputs, str name, str domain, "
     "int domain_version, int num_outputs, Tensor[] outputs, str attributes) "
     "-> Tensor[]", _customOperation),
)  # fmt: skip


def _beginBlock(stage, phase, ipu):
    tracer = activeTracer()
    if tracer is not None:
        tracer.placement = (ipu, stage, phase, "")


def _endBlock():
    tracer = activeTracer()
    if tracer is not None:
        tracer.placement = None


def _pushScope(name):
    tracer = activeTracer()
    if tracer is not None:
        tracer.scope.append(name)


def _popScope():
    tracer = activeTracer()
    if tracer is not None:
        tracer.scope.pop()


def _setAttribute(attribute, key, value):
    tracer = activeTracer()
    if tracer is not None and attribute == "__outline":
        tracer.outline[key] = value


def _clearAttribute(attribute, key):
    tracer = activeTracer()
    if tracer is not None and attribute == "__outline":
        tracer.outline.pop(key, None)


def _startLoop(inputs):
    tracer = activeTracer()
    if tracer is not None:
        tracer.bodies.startLoop(inputs)


def _endLoop(outputs, inputs, trip_count):
    tracer = activeTracer()
    if tracer is None:
        return outputs
    return tracer.bodies.endLoop(outputs, inputs, trip_count)


def _startThen(condition):
    tracer = activeTracer()
    if tracer is not None:
        tracer.bodies.startThen()


def _startElse(outputs):
    tracer = activeTracer()
    if tracer is not None:
        tracer.bodies.startElse(outputs)


def _endElse(outputs, condition):
    tracer = activeTracer()
    if tracer is None:
        return outputs
    return tracer.bodies.endElse(outputs, condition)


def _nothing(*_):
    """What is marked is the same without, as convolutions of a MultiConv are
    one by one."""


# Operators that change the tracer's state.
_STATE = (
    ("begin_ipu_block(int stage_id, int phase_id, int ipu_id) -> ()",
     _beginBlock),
    ("end_ipu_block() -> ()", _endBlock),
    ("begin_multi_conv() -> ()", _nothing),
    ("end_multi_conv(float[]? available_memory_proportions, "
     "int[]? partials_types, int? plan_type, int? per_conv_reserved_tiles, "
     "float? cycle_back_off, int[]? enable_conv_dithering) -> ()", _nothing),
    ("push_name_scope(str name) -> ()", _pushScope),
    ("pop_name_scope() -> ()", _popScope),
    ("start_for_loop(Tensor[] inputs) -> ()", _startLoop),
    ("end_for_loop(Tensor[] outputs, Tensor[] inputs, int trip_count) "
     "-> Tensor[]", _endLoop),
    ("start_if_block(Tensor condition) -> ()", _startThen),
    ("start_else_block(Tensor[] outputs_then) -> ()", _startElse),
    ("end_if_block(Tensor[] outputs_else, Tensor condition) -> Tensor[]",
     _endElse),
    ("set_attribute(str attribute, str key, str value) -> ()", _setAttribute),
    ("clear_attribute(str attribute, str key) -> ()", _clearAttribute),
    ("optimizer_group(int group, Tensor[] inputs) -> ()", _nothing),
)  # fmt: skip

_libraries = []


def registerLibrary():
    """Defines torch.ops.poptorch; once per process."""
    if _libraries:
        return
    library = torch.library.Library("poptorch", "DEF")
    traced = torch.library.Library("poptorch", "IMPL", "AutogradMeta")
    _libraries.extend((library, traced))
    for schema, implementation in (*_VALUES, *_STATE):
        library.define(schema)
        name = schema.split("(")[0]
        library.impl(name, implementation, "CompositeImplicitAutograd")
    for schema, _ in _VALUES:
        operator = getattr(torch.ops.poptorch, schema.split("(")[0]).default
        registerWhole(traced, operator)


def requireTensor(value, function):
    """Ops that tag a tensor take nothing else."""
    if not isinstance(value, torch.Tensor):
        raise createPoptorchError(
            f"{function} must take a torch.tensor argument. {type(value)} is "
            "not supported."
        )
