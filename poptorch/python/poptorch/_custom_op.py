# Operators that users write in C++ for PopART and load as shared objects, with
# torch.ops.load_library() or ctypes.
import torch

from ._active_tracer import activeTracer

_ATTRIBUTE_TYPES = (float, int, str)


def custom_op(
    inputs, name, domain, domain_version, example_outputs, attributes=None
):
    """Applies a custom operator. While the model is traced, the results have the
    shapes and dtypes of `example_outputs`; what comes back are the operator's
    own. On the CPU they are zeros."""
    _checkAttributes(attributes or {})
    tracer = activeTracer()
    key = tracer.addAttributes(attributes or {}) if tracer else ""
    return torch.ops.poptorch.custom_operation(
        inputs,
        name,
        domain,
        domain_version,
        len(example_outputs),
        example_outputs,
        key,
    )


def accessAttributes(attribute_id_str):
    """The attributes that a traced custom_operation names by this string."""
    return activeTracer().record.attributes[attribute_id_str]


def _checkAttributes(attributes):
    for key, value in attributes.items():
        if not isinstance(key, str):
            raise ValueError("All attribute keys must be strings.")
        values = value if isinstance(value, (list, tuple)) else [value]
        for item in (key, *values):
            _checkValue(item)
        if any(type(item) is not type(values[0]) for item in values):
            raise ValueError(
                "The types in a list/tuple attribute must all be the same."
            )


def _checkValue(value):
    if not isinstance(value, _ATTRIBUTE_TYPES):
        raise ValueError(
            "Attribute values must be floats, ints, strings or a list/tuple of "
            f"float, ints of strings. {value!r} is not."
        )
    if isinstance(value, str) and not value.isascii():
        raise ValueError(f"{value} contains non-ASCII characters.")
