# What the tracer writes down; needs no backend.
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import poptorch
from poptorch._inputs import ArgumentBinder
from poptorch._trace_model import traceModel


def trace(model, *args, options=None, optimizer=None, **kwargs):
    function = model.forward if isinstance(model, nn.Module) else model
    binder = ArgumentBinder(function)
    return traceModel(
        model,
        binder,
        binder.bind(args, kwargs),
        options or poptorch.Options(),
        optimizer,
    ).record


def ops(record):
    return [call[0] for call in record.calls]


def test_compositesStayWhole():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.GroupNorm(2, 4)
            self.linear = nn.Linear(4, 3)

        def forward(self, x, labels):
            x = F.dropout(self.linear(self.norm(x)), 0.5)
            return F.cross_entropy(x, labels)

    record = trace(Model(), torch.randn(2, 4), torch.tensor([0, 1]))
    assert ops(record) == [
        "aten::group_norm",
        "aten::linear",
        "aten::dropout",
        "aten::cross_entropy_loss",
    ]
    assert [name for name, *_ in record.state] == [
        "norm.weight",
        "norm.bias",
        "linear.weight",
        "linear.bias",
    ]


def test_lstmIsOneCall():
    record = trace(nn.LSTM(5, 4), torch.randn(64, 2, 5))
    assert ops(record).count("aten::lstm.input") == 1
    assert len(record.calls) == 1


def test_parametersAreRestored():
    model = nn.Linear(2, 2)
    weight = model.weight
    trace(model, torch.randn(1, 2))
    assert model.weight is weight
    with pytest.raises(ValueError):
        trace(_Failing(model), torch.randn(1, 2))
    assert model.weight is weight


class _Failing(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        self.inner(x)
        raise ValueError


def test_argumentsFollowTheSchemaWithDefaults():
    record = trace(lambda x: x.add(1), torch.zeros(2))
    op, arguments, results, placement, _, source, _ = record.calls[0]
    assert op == "aten::add.Tensor"
    assert arguments == [("tensor", 0), 1, 1]
    assert results == [1]
    assert placement == (0, 0, 0, "")
    assert source.startswith(__file__)


def test_shapesAndTypesAreTheDevices():
    record = trace(lambda x: x.view(-1).long(), torch.zeros(2, 3).double())
    assert record.tensors[0] == ("FLOAT", (2, 3), False)
    assert record.tensors[-1] == ("INT32", (6,), False)


def test_gradientFlagsFollowTheUsersGradMode():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(2))

        def forward(self, x):
            a = x * self.w
            with torch.no_grad():
                b = x * self.w
            return a, b, a.detach(), (a > 0)

    record = trace(Model(), torch.ones(2))
    flags = [record.tensors[n][2] for n in record.outputs]
    assert flags == [True, False, False, False]


def test_inPlaceUpdateOfAViewUpdatesItsBase():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("b", torch.zeros(3))

        def forward(self, x):
            self.b[1] += x.sum()
            return self.b * 1

    record = trace(Model(), torch.ones(2))
    assert "aten::select_scatter" in ops(record)
    (target, value), = record.written_back
    assert record.state[0][:2] == ("b", target)
    # The product reads the updated buffer.
    product = record.calls[-1]
    assert product[0] == "aten::mul.Tensor"
    assert product[1][0] == ("tensor", value)


def test_viewSeesLaterUpdateOfItsBase():
    def model(x):
        y = x * 1
        view = y[0]
        y.add_(1)
        return view * 2

    record = trace(model, torch.zeros(2, 2))
    selects = [c for c in record.calls if c[0] == "aten::select.int"]
    assert len(selects) == 2
    add = next(c for c in record.calls if c[0] == "aten::add.Tensor")
    assert selects[1][1][0] == ("tensor", add[2][0])


def test_inputChangedInPlaceIsWrittenBack():
    def model(x):
        x.mul_(2)
        return x + 1

    record = trace(model, torch.ones(2))
    assert record.written_back == [(0, 1)]


def test_constantsAreCapturedAndRandomOpsRecorded(caplog):
    def model(x):
        return x + torch.arange(3.0) + torch.tensor([1.0, 2, 3]) + torch.rand(3)

    record = trace(model, torch.zeros(3))
    assert len(record.constants) == 2
    assert ops(record).count("aten::rand") == 1


def test_constantsHaveDeviceTypes():
    record = trace(lambda x: x + torch.arange(3, device="ipu"), torch.zeros(3))
    number, data = record.constants[0]
    assert record.tensors[number][0] == "INT32"
    assert len(data) == 12


def test_scopesAreModuleNames():
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU()))
    record = trace(model, torch.ones(1, 2))
    assert [call[4] for call in record.calls] == ["0", "1/0"]
    options = poptorch.Options().disableModuleNamescope()
    record = trace(model, torch.ones(1, 2), options=options)
    assert [call[4] for call in record.calls] == ["", ""]


def test_weightTyingGivesOneVariable():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(2, 2, bias=False)
            self.b = nn.Linear(2, 2, bias=False)
            self.b.weight = self.a.weight

        def forward(self, x):
            return self.b(self.a(x))

    record = trace(Model(), torch.ones(1, 2))
    assert [name for name, *_ in record.state] == ["a.weight"]


def test_blocksGivePlacements():
    @poptorch.BlockFunction("c", ipu_id=1)
    def last(x):
        return x * 3

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.ReLU()

        def forward(self, x):
            x = self.first(x)
            with poptorch.Block("b", ipu_id=1):
                x = x + 1
            return last(x)

    model = Model()
    poptorch.BeginBlock(model.first, "a", ipu_id=0)
    options = poptorch.Options()
    options.setExecutionStrategy(
        poptorch.PipelinedExecution(poptorch.AutoStage.AutoIncrement)
    )
    record = trace(model, torch.ones(2), options=options)
    assert [call[3][:3] for call in record.calls] == [
        (0, 1, 0),
        (1, 2, 0),
        (1, 3, 0),
    ]


def test_explicitStagesPlaceBlocks():
    def model(x):
        with poptorch.Block("B1"):
            x = x + 1
        with poptorch.Block("B2"):
            return x + 2

    options = poptorch.Options()
    options.setExecutionStrategy(
        poptorch.ShardedExecution(
            poptorch.Stage("B1").ipu(3), poptorch.Stage("B2")
        )
    )
    record = trace(model, torch.ones(2), options=options)
    assert [call[3][:3] for call in record.calls] == [(3, 0, 0), (1, 1, 0)]


def test_opOutsideAnyBlockIsAnError():
    def model(x):
        with poptorch.Block("a", ipu_id=0):
            x = x + 1
        return x + 2

    with pytest.raises(poptorch.Error, match="No active Block"):
        trace(model, torch.ones(2))


def test_blocksDoNothingOnTheCpu():
    with poptorch.Block("a", ipu_id=7):
        assert (torch.ones(2) + 1).sum() == 4


@pytest.mark.parametrize(
    "model, message",
    [
        (lambda x: x.sum().item(), "aten::item is only supported in eager"),
        (lambda x: x if x.sum() > 0 else -x, "aten::item is only supported"),
        (lambda x: x.cpu(), "Illegal move to CPU"),
        (lambda x: x.to("cpu"), "Illegal move to CPU"),
        (lambda x: x + _OUTSIDE, "Expected an IPU tensor but got tensor"),
    ],
)
def test_whatCannotBeTracedIsAnError(model, message):
    with pytest.raises(poptorch.Error, match=message):
        trace(model, torch.ones(2))


_OUTSIDE = torch.ones(2)


def test_cpuScalarsAndMovedTensorsAreFine():
    record = trace(
        lambda x: x * torch.tensor(2.0, device="cpu") + _OUTSIDE.to("ipu"),
        torch.ones(2),
    )
    assert record.calls[0][1][1] == 2.0
    assert len(record.constants) == 1


def test_reassignedAndRemovedBuffersAreErrors():
    class Reassigns(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("b", torch.zeros(2))

        def forward(self, x):
            self.b = self.b + x
            return self.b

    class Removes(Reassigns):
        def forward(self, x):
            del self.b
            return x + 1

    with pytest.raises(poptorch.Error, match="Buffer b is reassigned within"):
        trace(Reassigns(), torch.ones(2))
    with pytest.raises(poptorch.Error, match="Buffer b is removed from"):
        trace(Removes(), torch.ones(2))


def test_isRunningOnIpuOnlyWhileTracing():
    seen = []

    def model(x):
        seen.append(poptorch.isRunningOnIpu())
        seen.append(x.device.type)
        return x + 1

    trace(model, torch.ones(1))
    assert seen == [True, "ipu"]
    assert not poptorch.isRunningOnIpu()


def test_batchNormUpdatesItsStatistics():
    norm = nn.BatchNorm1d(3)
    optimizer = torch.optim.SGD(norm.parameters(), lr=1)
    record = trace(norm, torch.ones(4, 3), optimizer=optimizer)
    names = {number: name for name, number, *_ in record.state}
    written = [names[target] for target, _ in record.written_back]
    assert written == ["running_mean", "running_var"]
