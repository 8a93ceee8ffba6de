# Help for tests of models.
import torch


def allclose(ref, other, rtol=1e-5, atol=1e-8):
    """Whether two tensors, or nested tuples and lists of them, agree."""
    if isinstance(ref, (tuple, list)):
        return len(ref) == len(other) and all(
            allclose(a, b, rtol, atol) for a, b in zip(ref, other)
        )
    return torch.allclose(ref, other, rtol=rtol, atol=atol)
