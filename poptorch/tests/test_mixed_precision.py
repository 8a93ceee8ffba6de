# Halves and floats in one layer: the result has the type of the input, and its
# values are those of floats but for the rounding of halves.
import copy

import pytest
import torch
from torch import nn

import poptorch


def options():
    return poptorch.Options().showCompilationProgressBar(False)


class Applied(nn.Module):
    """The layer's first output."""

    def __init__(self, layer, inputs):
        super().__init__()
        self.layer = layer
        self.inputs = inputs

    def forward(self, x):
        out = self.layer(*[x] * self.inputs)
        out = out[0] if isinstance(out, tuple) else out
        return out, poptorch.identity_loss((out.float() ** 2).mean(), "none")


LAYERS = {
    "linear": (lambda: nn.Linear(6, 4), (5, 6)),
    "linear_no_bias": (lambda: nn.Linear(6, 4, bias=False), (5, 6)),
    "linear_3d": (lambda: nn.Linear(6, 4), (2, 5, 6)),
    "bilinear": (lambda: nn.Bilinear(6, 6, 3), (5, 6)),
    "layer_norm": (lambda: nn.LayerNorm(6), (5, 6)),
    "layer_norm_plain": (
        lambda: nn.LayerNorm(6, elementwise_affine=False), (5, 6)),
    "group_norm": (lambda: nn.GroupNorm(2, 6), (5, 6)),
    "group_norm_2d": (lambda: nn.GroupNorm(3, 6), (2, 6, 3, 3)),
    "batch_norm": (lambda: nn.BatchNorm1d(6), (5, 6)),
    "batch_norm_2d": (lambda: nn.BatchNorm2d(6), (4, 6, 3, 3)),
    "instance_norm": (lambda: nn.InstanceNorm1d(6, affine=True), (2, 6, 5)),
    "prelu": (lambda: nn.PReLU(), (5, 6)),
    "prelu_channels": (lambda: nn.PReLU(6), (5, 6)),
    "conv1d": (lambda: nn.Conv1d(6, 4, 3), (2, 6, 5)),
    "conv2d": (lambda: nn.Conv2d(6, 4, 2, bias=False), (2, 6, 4, 4)),
    "conv_transpose": (lambda: nn.ConvTranspose2d(6, 4, 2), (2, 6, 4, 4)),
    "lstm": (lambda: nn.LSTM(6, 4), (3, 2, 6)),
    "lstm_batch_first": (lambda: nn.LSTM(6, 4, batch_first=True), (2, 3, 6)),
    "gru": (lambda: nn.GRU(6, 4), (3, 2, 6)),
    "rnn": (lambda: nn.RNN(6, 4), (3, 2, 6)),
    "attention": (lambda: nn.MultiheadAttention(6, 2), (3, 2, 6)),
    "encoder": (
        lambda: nn.TransformerEncoderLayer(6, 2, 8, dropout=0.0), (3, 2, 6)),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("isTraining", [False, True])
@pytest.mark.parametrize(
    "x_type, weight_type",
    [
        (torch.half, torch.float),
        (torch.float, torch.half),
        (torch.half, torch.half),
    ],
    ids=["half_by_float", "float_by_half", "halves"],
)
def test_resultsHaveTheTypeOfTheInput(name, isTraining, x_type, weight_type):
    torch.manual_seed(0)
    make, shape = LAYERS[name]
    inputs = {"attention": 3, "bilinear": 2}.get(name, 1)
    model = Applied(make().to(weight_type), inputs)
    if isTraining and not list(model.parameters()):
        pytest.skip("nothing to train")
    reference = copy.deepcopy(model).float()
    x = torch.randn(shape).to(x_type)
    expected, loss = reference(x.float())
    if isTraining:
        loss.backward()
        torch.optim.SGD(reference.parameters(), lr=0.1).step()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        wrapper = poptorch.trainingModel(model, options(), optimizer)
    else:
        wrapper = poptorch.inferenceModel(model, options())
    out = wrapper(x)[0]
    assert out.dtype == x_type
    torch.testing.assert_close(out.float(), expected.detach(), rtol=2e-2, atol=1e-2)
    state = model.state_dict()
    for key, parameter in reference.named_parameters():
        assert state[key].dtype == weight_type
        torch.testing.assert_close(
            state[key].float(), parameter.detach(), rtol=2e-2, atol=1e-2
        )


def addmm(a, b):
    return torch.addmm(a, a, b)


def outOfHalves(a, b):
    return a[0] @ b, torch.mv(a, b[0]), torch.dot(a[0], b[0]), torch.bmm(
        a[None], b[None]), torch.baddbmm(b[None], a[None], b[None])  # fmt: skip


@pytest.mark.parametrize(
    "function", [torch.mul, torch.add, torch.matmul, torch.mm, addmm, outOfHalves]
)
@pytest.mark.parametrize("isFirst", [False, True])
def test_otherOperatorsPromote(function, isFirst):
    """Where PyTorch wants one type, the wider one."""
    operands = torch.randn(4, 4).half(), torch.randn(4, 4)
    operands = operands if isFirst else operands[::-1]
    wrapper = poptorch.inferenceModel(function, options())
    results = wrapper(*operands)
    expected = function(*(o.float() for o in operands))
    torch.testing.assert_close(results, expected, rtol=1e-5, atol=1e-5)
