"""Horovod's collectives of PyTorch tensors, over PopDist's backend."""
import os

import popdist
import torch
from popdist import popdist_core

Sum = "Sum"
Average = "Average"


def init():
    if popdist.isPopdistEnvSet() and not popdist.isBackendInitialized():
        popdist.init()


def rank():
    return popdist.getInstanceIndex()


def size():
    return popdist.getNumInstances()


def local_rank():
    return popdist.getLocalInstanceIndex()


def local_size():
    return int(os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE", size()))


def _collect(collective, tensor, *arguments):
    array = tensor.detach().cpu().numpy()
    return torch.from_numpy(collective(array, *arguments))


def allreduce(tensor, average=None, name=None, op=None):
    """The sum over instances, in their order, or by default the average."""
    if average is not None and op is not None:
        raise ValueError("allreduce takes 'average' or 'op', not both")
    if op is None:
        op = Sum if average is False else Average
    if op not in (Sum, Average):
        raise ValueError(f"allreduce has op Sum and Average, not {op!r}")
    if size() == 1:
        return tensor.detach().clone()
    total = _collect(popdist_core.allReduceSum, tensor)
    if op == Sum:
        return total
    isFloat = torch.is_floating_point(total)
    return total / size() if isFloat else torch.div(
        total, size(), rounding_mode="trunc"
    )


def grouped_allreduce(tensors, average=None, name=None, op=None):
    return [allreduce(tensor, average, op=op) for tensor in tensors]


def allgather(tensor, name=None):
    """The tensors of all instances, after each other along dimension 0."""
    if size() == 1:
        return tensor.detach().clone()
    return _collect(popdist_core.allGather, tensor).flatten(0, 1)


def broadcast(tensor, root_rank, name=None):
    if size() == 1:
        return tensor.detach().clone()
    return _collect(popdist_core.broadcast, tensor, root_rank)


def broadcast_parameters(params, root_rank):
    """Overwrites parameters, a state_dict() or pairs of name and tensor."""
    items = params.items() if hasattr(params, "items") else params
    with torch.no_grad():
        for _, tensor in items:
            tensor.copy_(broadcast(tensor, root_rank))
