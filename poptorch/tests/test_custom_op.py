# custom_op(): PopART operators of the user's own, from a shared object.
import ctypes
import subprocess
from pathlib import Path

import pytest
import torch
from torch import nn

import poptorch

SOURCE = (
    Path(__file__).resolve().parents[2]
    / "popart/tests/custom/CustomOperators.cpp"
)


@pytest.fixture(scope="module", autouse=True)
def operators(tmp_path_factory):
    """PopART's own test operators, built as users build theirs."""
    library = tmp_path_factory.mktemp("operators") / "liboperators.so"
    subprocess.run(
        ["g++", "-std=c++14", "-fPIC", "-shared", str(SOURCE), "-lpopart",
         "-lpopops", "-lpoprand", "-lpoplar", "-o", str(library)],
        check=True,
    )  # fmt: skip
    torch.ops.load_library(library)
    return library


def options():
    return poptorch.Options().showCompilationProgressBar(False)


def leakyRelu(x, alpha):
    return poptorch.custom_op(
        [x], "LeakyRelu", "custom.ops", 1, example_outputs=[x],
        attributes={"alpha": alpha},
    )[0]  # fmt: skip


def run(function, *inputs):
    return poptorch.inferenceModel(function, options())(*inputs)


def test_libraryMayBeLoadedWithCtypes(operators):
    assert ctypes.cdll.LoadLibrary(str(operators))


def test_attributesReachTheOperator():
    x = torch.randn(3, 5)
    for alpha in (0.02, 0.5):
        result = run(lambda t, a=alpha: leakyRelu(t, a), x)
        torch.testing.assert_close(
            result, nn.functional.leaky_relu(x, alpha)
        )


def test_severalOutputsLikeTheirExamples():
    def model(x):
        row = x[:, 0]
        return poptorch.custom_op(
            [x], "Range", "custom.ops", 2, example_outputs=[row, row]
        )

    x = torch.randn(4, 6)
    least, greatest = run(model, x)
    assert torch.equal(least, x.min(1).values)
    assert torch.equal(greatest, x.max(1).values)


def test_operatorMadeOfOthers():
    x = torch.tensor([0.5, -1.5, 2.0])
    result = run(
        lambda t: poptorch.custom_op([t], "NinthPower", "custom.ops", 1, [t]),
        x,
    )
    torch.testing.assert_close(result[0], x**9)


def test_trainingGoesThroughItsGradient():
    class Model(nn.Module):
        def __init__(self, activation):
            super().__init__()
            self.linear = nn.Linear(4, 3)
            self.activation = activation

        def forward(self, x, target):
            y = self.activation(self.linear(x))
            return nn.functional.mse_loss(y, target)

    torch.manual_seed(0)
    model = Model(lambda t: leakyRelu(t, 0.1))
    plain = Model(lambda t: nn.functional.leaky_relu(t, 0.1))
    plain.load_state_dict(model.state_dict())
    x, target = torch.randn(6, 4), torch.randn(6, 3)
    trainer = poptorch.trainingModel(
        model, options(), torch.optim.SGD(model.parameters(), lr=0.1)
    )
    optimizer = torch.optim.SGD(plain.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = plain(x, target)
        loss.backward()
        optimizer.step()
        torch.testing.assert_close(trainer(x, target), loss.detach())
    for a, b in zip(model.parameters(), plain.parameters()):
        torch.testing.assert_close(a, b)


def test_onTheCpuResultsAreZerosLikeTheExamples():
    x = torch.randn(2, 3)
    result = leakyRelu(x, 0.1)
    assert torch.equal(result, torch.zeros(2, 3))


def test_wrongAttributesAreNamed():
    x = torch.ones(1)

    def with_attributes(attributes):
        return poptorch.custom_op(
            [x], "LeakyRelu", "custom.ops", 1, [x], attributes
        )

    for attributes, message in (
        ({1: 1.0}, "All attribute keys must be strings"),
        ({"a": {}}, "Attribute values must be floats, ints, strings"),
        ({"a": [1.0, object()]}, "Attribute values must be floats"),
        ({"a": [1.0, 2]}, "types in a list/tuple attribute must all be"),
        ({"a": "naïve"}, "naïve contains non-ASCII characters"),
        ({"naïve": 1}, "naïve contains non-ASCII characters"),
    ):
        with pytest.raises(ValueError, match=message):
            with_attributes(attributes)
    with_attributes({"a": [1, 2], "b": ("x", "y"), "c": [], "d": True})


def test_theOperatorSaysTheShapesOfItsResults():
    """Also where the examples have others."""
    x = torch.tensor([[1.0, -2.0, 3.0], [0.5, 0.0, 2.0]])
    for example in (x[:, 0], x.t(), torch.zeros(7), torch.zeros(())):
        result = run(
            lambda t, e=example: poptorch.custom_op(
                [t], "Cube", "custom.ops", 1, [e]
            )[0],
            x,
        )
        torch.testing.assert_close(result, x**3)
    # And what is computed from them.
    least = run(
        lambda t: poptorch.custom_op(
            [t], "Range", "custom.ops", 2, [torch.zeros(9), torch.zeros(9)]
        )[0] * 2.0,
        x,
    )  # fmt: skip
    torch.testing.assert_close(least, x.min(1).values * 2)


@pytest.mark.parametrize("shape, count", [((5,), 3), ((2, 3, 4), 6)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_gatherAlongTheLastDimension(shape, count, dtype):
    """FastGatherLastDim needs no library."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(shape, dtype=dtype))

        def forward(self, x, index):
            y = poptorch.custom_op(
                [x * self.scale, index], "FastGatherLastDim",
                "poptorch.custom_ops", 1,
                example_outputs=[torch.zeros_like(index, dtype=x.dtype)],
                attributes={"debug_str": "gather", "axis": -1},
            )[0]  # fmt: skip
            return y, poptorch.identity_loss(y * y, reduction="sum")

    torch.manual_seed(2)
    x = torch.randn(shape).to(dtype)
    index = torch.randint(0, shape[-1], (*shape[:-1], count), dtype=torch.int32)
    model = Model()
    trainer = poptorch.trainingModel(
        model, options(), torch.optim.SGD(model.parameters(), lr=0.125)
    )
    y, _ = trainer(x, index)
    leaf = torch.ones(shape, requires_grad=True)
    expected = torch.gather(x.float() * leaf, -1, index.long())
    (expected**2).sum().backward()
    torch.testing.assert_close(y.float(), expected, atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(
        model.scale.float(), 1 - 0.125 * leaf.grad, atol=1e-2, rtol=1e-2
    )


def test_unknownOperatorsAreErrors():
    x = torch.ones(2, 3)
    with pytest.raises(poptorch.Error, match="custom.ops.Nothing"):
        run(lambda t: poptorch.custom_op(
            [t], "Nothing", "custom.ops", 1, [t])[0], x)  # fmt: skip


def test_attributesAndTensorsHaveNamesWhileTracing():
    seen = []

    def model(x):
        y = leakyRelu(x, 0.25)
        seen.append(poptorch.accessAttributes("attr:0"))
        seen.append(poptorch.getIpuTensorId(x) != poptorch.getIpuTensorId(y))
        return y

    run(model, torch.ones(2))
    assert seen == [{"alpha": 0.25}, True]
    with pytest.raises(poptorch.Error, match="takes a tensor on the IPU"):
        poptorch.getIpuTensorId(torch.ones(1))
