# Element types: what torch calls them, what the device calls them.
import torch

from ._errors import createPoptorchError
from ._logging import logger

_DEVICE_TYPES = {
    torch.float32: "FLOAT",
    torch.float16: "FLOAT16",
    torch.int32: "INT32",
    torch.int16: "INT16",
    torch.int8: "INT8",
    torch.uint8: "UINT8",
    torch.bool: "BOOL",
    # Not native: stored in the next type down.
    torch.int64: "INT32",
    torch.float64: "FLOAT",
    torch.bfloat16: "FLOAT",
}

_STORED_AS = {
    torch.int64: torch.int32,
    torch.float64: torch.float32,
    torch.bfloat16: torch.float32,
}

_warned = set()

# torch's dtypes of what the device gives back.
DEVICE_DTYPES = {
    name: dtype
    for dtype, name in _DEVICE_TYPES.items()
    if dtype not in _STORED_AS
}
DEVICE_DTYPES["UINT32"] = torch.int32  # bits


def deviceType(dtype):
    """The device's name of a torch dtype."""
    try:
        return _DEVICE_TYPES[dtype]
    except KeyError:
        raise createPoptorchError(f"Unsupported input type {dtype}") from None


def warnIfNarrowed(dtype):
    """Once for each type that the device has not."""
    if dtype in _STORED_AS and dtype not in _warned:
        _warned.add(dtype)
        logger.warning(
            "%s is not supported natively on IPU, loss of range/precision may "
            "occur. We will only warn on the first instance.", dtype,
        )  # fmt: skip


def deviceDtype(dtype):
    """The torch dtype that a tensor of `dtype` has on the device."""
    return _STORED_AS.get(dtype, dtype)


def narrowed(dtype):
    """The dtype by which a traced model sees one that was passed or made:
    doubles are floats there, so that they meet floats as the device has them."""
    return torch.float32 if dtype == torch.float64 else dtype


def toDevice(tensor):
    """`tensor` as the device takes it: its dtype there, contiguous, detached."""
    return tensor.detach().to(deviceDtype(tensor.dtype)).contiguous()


def hostValue(tensor):
    """The value that a part of the program has on the device."""
    value = toDevice(tensor)
    if tensor.dtype == torch.int64 and bool((value != tensor).any()):
        logger.warning(
            "torch.int64 constant cannot be represented as a torch.int32"
        )
    return value
