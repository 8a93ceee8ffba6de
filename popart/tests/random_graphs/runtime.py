"""Runs one graph in PopART and in PyTorch and compares values and gradients.

How far apart the two may be follows from the graph: PyTorch computes it twice,
with roundings to the graph's types and in double precision. Where roundings
matter much to the one, they may matter as much to the other.
"""

from dataclasses import dataclass

import numpy as np
import popart
import torch

DTYPES = {"float": np.float32, "half": np.float16, "int": np.int32,
          "bool": np.bool_}
ROUNDINGS = {"float": 3e-5, "half": 1e-2}  # always granted
SMALLEST = {"float": 1e-3, "half": 0.1}  # what they are relative to, at least
SPREAD = 10.0  # of what PyTorch's own roundings do


@dataclass
class Leaf:
    role: str
    type: str
    shape: tuple
    seed: int

    def array(self) -> np.ndarray:
        generator = np.random.default_rng(self.seed)
        if self.type in ("float", "half"):
            values = generator.uniform(-1, 1, self.shape)
        elif self.type == "int":
            values = generator.integers(-9, 10, self.shape)
        else:
            values = generator.integers(0, 2, self.shape)
        return np.asarray(values).astype(DTYPES[self.type])


class Rounded:
    """The types of the graph; halves are float32 numbers rounded to half, as
    PyTorch's CPU has few operators for halves."""

    real = torch.float32

    def float(self, x):
        return x.to(self.real)

    def half(self, x):
        return x.to(torch.float16).to(self.real)

    def int(self, x):
        return x.to(torch.int32)

    def bool(self, x):
        return x.to(torch.bool)


class Exact(Rounded):
    """Double precision throughout."""

    real = torch.float64

    def half(self, x):
        return x.to(self.real)


def group_norm(rounded, x, groups: int, scale, bias, epsilon: float):
    """The operator keeps mean and deviation in the type of x for its gradient:
    a mean far from zero is no good for elements that lie close together."""
    grouped = x.reshape(x.shape[0], groups, -1)
    mean = rounded(grouped.mean(-1, keepdim=True))
    inverse = rounded(torch.rsqrt(
        grouped.var(-1, unbiased=False, keepdim=True) + epsilon))
    whitened = ((grouped - mean) * inverse).reshape(x.shape)
    channels = (1, -1) + (1,) * (x.dim() - 2)
    return whitened * scale.reshape(channels) + bias.reshape(channels)


def weights_of(index: int, shape) -> np.ndarray:
    """What a result is multiplied with in the loss."""
    generator = np.random.default_rng(1000 + index)
    return np.asarray(generator.uniform(0.5, 1.5, shape)).astype(np.float32)


def run_torch(to, leaves: dict, reference):
    """The results, and the variables' gradients where they have any."""
    tensors = {}
    for name, leaf in leaves.items():
        tensor = torch.tensor(leaf.array())
        if leaf.type in ("float", "half"):
            tensor = tensor.to(to.real)
            tensor.requires_grad_(leaf.role == "variable")
        tensors[name] = tensor
    results = reference(to, **tensors)
    loss = sum((r * torch.tensor(weights_of(i, r.shape)).to(to.real)).sum()
               for i, r in enumerate(results) if r.is_floating_point())
    if isinstance(loss, torch.Tensor) and loss.requires_grad:
        loss.backward()
    gradients = {name: t.grad.numpy() for name, t in tensors.items()
                 if t.grad is not None}
    return [r.detach().numpy() for r in results], gradients


def run_popart(leaves: dict, build, differentiated: list):
    builder = popart.Builder(opsets={"ai.onnx": 11, "ai.graphcore": 1})
    o, g = builder.aiOnnx, builder.aiGraphcore
    ids, feeds = {}, {}
    for name, leaf in leaves.items():
        array = leaf.array()
        if leaf.role == "variable":
            ids[name] = builder.addInitializedInputTensor(array, name)
        elif leaf.role == "constant":
            ids[name] = o.constant(array)
        else:
            ids[name] = builder.addInputTensor(popart.TensorInfo(array), name)
            feeds[ids[name]] = array
    results = build(o, g, lambda numbers: o.constant(
        np.array(numbers, np.int64)), **ids)
    gradients = [popart.reservedGradientPrefix() + ids[name]
                 for name in differentiated]
    flow = popart.DataFlow(1, [*results, *gradients])
    device = popart.DeviceManager().createCpuDevice()
    if differentiated:
        terms = [o.reducesum([o.mul([
                     o.cast([r], "FLOAT"),
                     o.constant(weights_of(i, builder.getTensorShape(r)))])],
                     keepdims=0)
                 for i, r in enumerate(results)
                 if builder.getTensorDtypeString(r).startswith("float")]
        loss = g.identityloss([o.sum(terms)])
        session = popart.TrainingSession(
            builder.getModelProto(), flow, loss, popart.ConstSGD(1e-3), device)
    else:
        session = popart.InferenceSession(builder.getModelProto(), flow, device)
    session.prepareDevice()
    session.weightsFromHost()
    anchors = session.initAnchorArrays()
    session.run(popart.PyStepIO(feeds, anchors))
    return ([anchors[r] for r in results],
            {name: anchors[i] for name, i in zip(differentiated, gradients)})


def compare(what: str, found, rounded, exact, roughest: str):
    assert found.shape == rounded.shape, f"{what}: {found.shape}"
    if found.dtype.kind != "f":
        np.testing.assert_array_equal(found, rounded, err_msg=what)
        return
    granted = ROUNDINGS[roughest]
    scale = max(SMALLEST[roughest], np.abs(exact).max(initial=0))
    spread = np.abs(rounded - exact).max(initial=0) / scale
    if not np.isfinite(spread):
        return  # too large for the graph's types
    error = np.abs(found.astype(np.float64) - rounded).max(initial=0) / scale
    assert error <= granted + SPREAD * spread, (
        f"{what} differs from PyTorch's by {error:.1e} of its largest element; "
        f"granted are {granted:.1e} and {SPREAD} times {spread:.1e}.\n"
        f"PopART: {found}\nPyTorch: {rounded}")


def check(leaves: dict, build, reference, roughest: str):
    """`roughest` is "half" where any of the graph's tensors is."""
    rounded, gradients = run_torch(Rounded(), leaves, reference)
    exact, exact_gradients = run_torch(Exact(), leaves, reference)
    found, found_gradients = run_popart(leaves, build, list(gradients))
    for i, triple in enumerate(zip(found, rounded, exact)):
        compare(f"result {i}", *triple, roughest)
    for name in gradients:
        compare(f"gradient of {name}", found_gradients[name],
                gradients[name], exact_gradients[name], roughest)
