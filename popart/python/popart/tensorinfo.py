"""The type and shape of a tensor, from names, NumPy's types or an array."""
import numpy as np

from . import popart_core
from .popart_core import DataType


class TensorInfo(popart_core._TensorInfoCore):
    def __init__(self, *args):
        if len(args) == 1 and isinstance(args[0], np.ndarray):
            core = popart_core._tensorInfoOf(args[0])
            super().__init__(core.dataType(), core.shape())
        elif len(args) == 1 and isinstance(args[0],
                                           popart_core._TensorInfoCore):
            super().__init__(args[0].dataType(), args[0].shape())
        elif len(args) == 2 and isinstance(args[0], (str, DataType)):
            super().__init__(args[0], [int(dim) for dim in args[1]])
        elif len(args) == 2 and isinstance(args[0], (type, np.dtype)):
            super().__init__(popart_core._dataTypeOf(np.dtype(args[0])),
                             [int(dim) for dim in args[1]])
        else:
            raise TypeError(f"Can not create TensorInfo with args {args}")


def getTensorInfo(array: np.ndarray) -> TensorInfo:
    return TensorInfo(array)
