# Parameters of which groups of replicas have values of their own: a row of the
# host's tensor for each group.
import types

import torch

from . import enums
from ._errors import createPoptorchError

_MARK = "_poptorch_grouping"


def offerGrouping(parameter):
    """Gives a parameter the method replicaGrouping()."""
    parameter.__dict__["replicaGrouping"] = types.MethodType(_group, parameter)


def _group(parameter, comm_group_type, shards, variable_retrieval_mode):
    """Groups of `shards` replicas; before the model is compiled."""
    assert isinstance(comm_group_type, enums.CommGroupType)
    assert isinstance(variable_retrieval_mode, enums.VariableRetrievalMode)
    if parameter.dim() == 0:
        raise createPoptorchError(
            "Scalars cannot be passed as per-replica weight tensor values"
        )
    parameter.__dict__[_MARK] = (
        int(comm_group_type),
        shards,
        int(variable_retrieval_mode),
    )


def groupingOf(tensor):
    """(type, replicas of a group, retrieval mode), or None."""
    return object.__getattribute__(tensor, "__dict__").get(_MARK)


def rowsOf(tensor):
    """How many rows the tensor has for replicas; 0: all share one value."""
    return 0 if groupingOf(tensor) is None else tensor.shape[0]


def resized(tensor, rows):
    """The tensor, or one with as many rows for replicas."""
    if rows == 0 or tensor.shape[0] == rows:
        return tensor
    return torch.empty((rows, *tensor.shape[1:]), dtype=tensor.dtype)
