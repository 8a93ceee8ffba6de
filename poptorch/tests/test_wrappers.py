# The wrappers' life: weights to and from the device, detaching, destroying,
# output modes, structures, errors.
import collections
import copy
import io
import pickle

import pytest
import torch
from torch import nn

import poptorch
from models import Small, smallData


def options(**values):
    result = poptorch.Options().showCompilationProgressBar(False)
    for name, value in values.items():
        getattr(result, name)(value)
    return result


def close(a, b):
    torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


def test_inferenceEqualsPyTorch():
    torch.manual_seed(0)
    model = Small()
    x, _ = smallData(6)
    close(poptorch.inferenceModel(model, options())(x), model(x).detach())


def test_inferenceAfterTrainingSeesTrainedWeights():
    torch.manual_seed(0)
    model = Small()
    x, labels = smallData(6)
    trainer = poptorch.trainingModel(
        model, options(), torch.optim.SGD(model.parameters(), lr=0.1)
    )
    inference = poptorch.inferenceModel(model, options())
    before = inference(x)
    for _ in range(3):
        trainer(x, labels)
        plain = Small()
        plain.load_state_dict(model.state_dict())
        close(inference(x), plain(x).detach())
    assert not torch.allclose(before, inference(x))


def test_innerModuleSeesTrainedWeights():
    class WithLoss(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner
            self.loss = nn.MSELoss()

        def forward(self, x, target):
            return self.loss(self.inner(x), target)

    inner = nn.Linear(4, 2)
    trainer = poptorch.trainingModel(WithLoss(inner), options())
    x = torch.randn(3, 4)
    trainer(x, torch.zeros(3, 2))
    result = poptorch.inferenceModel(inner, options())(x)
    close(result, nn.functional.linear(x, inner.weight, inner.bias).detach())


def test_trainedModelIsReclassedAndItsStateIsPlain():
    model = Small()
    weight = model.a.weight
    before = weight.detach().clone()
    trainer = poptorch.trainingModel(model, options())
    assert type(model).__name__ == "PoptorchSmall"
    assert isinstance(model, Small)
    assert isinstance(model.a.weight, nn.Parameter)
    trainer(*smallData(4))
    assert not torch.equal(weight, before)
    state = model.state_dict()
    assert type(state["a.weight"]) is torch.Tensor
    stream = io.BytesIO()
    torch.save(state, stream)
    copied = copy.deepcopy(model)
    assert type(copied) is Small
    assert type(copied.a.weight) is nn.Parameter
    assert type(pickle.loads(pickle.dumps(model))) is Small
    model.destroy()
    assert type(model) is Small
    assert type(model.a.weight) is nn.Parameter


def test_wrappingTwiceIsAnErrorUntilDestroyed():
    model = Small()
    poptorch.trainingModel(model, options())
    with pytest.raises(RuntimeError, match="Model has already been wrapped"):
        poptorch.trainingModel(model, options())
    model.destroy()
    poptorch.trainingModel(model, options())


def test_detachAndCallAgain():
    torch.manual_seed(0)
    model = Small()
    reference = copy.deepcopy(model)
    x, labels = smallData(4)
    optimizer = torch.optim.SGD(reference.parameters(), lr=0.1, momentum=0.9)
    trainer = poptorch.trainingModel(
        model,
        options(),
        poptorch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9),
    )
    for step in range(4):
        optimizer.zero_grad()
        _, expected = reference(x, labels)
        expected.backward()
        optimizer.step()
        close(trainer(x, labels)[1], expected.detach())
        if step == 1:
            trainer.detachFromDevice()
            assert not trainer.isAttachedToDevice()
            with pytest.raises(poptorch.Error, match="is not attached"):
                trainer.detachFromDevice()
    with pytest.raises(poptorch.Error, match="is already attached"):
        trainer.attachToDevice()


def test_copyWeightsToDevice():
    model = nn.Linear(2, 1)
    inference = poptorch.inferenceModel(model, options())
    x = torch.ones(1, 2)
    inference(x)
    with torch.no_grad():
        model.weight.fill_(3)
        model.bias.fill_(1)
    inference.copyWeightsToDevice()
    assert inference(x).item() == 7


class _Derived(nn.Sequential):
    """Weights that an inference folds into others and reorders."""

    def __init__(self):
        super().__init__(
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Flatten(), nn.Linear(32 * 8 * 8, 37))
        with torch.no_grad():
            self[1].running_mean.normal_()
            self[1].running_var.uniform_(0.5, 2)
        self.eval()


def test_weightsOfAnInferenceGoToAndFro():
    torch.manual_seed(0)
    model = _Derived()
    convolution, norm, _, _, linear = model
    inference = poptorch.inferenceModel(model, options())
    x = torch.randn(2, 16, 8, 8)
    close(inference(x), model(x).detach())
    for weight in (convolution.weight, norm.running_var, linear.weight,
                   linear.bias):
        before = model(x).detach()
        with torch.no_grad():
            weight.mul_(1.5)
        close(inference(x), before)  # not sent yet
        inference.copyWeightsToDevice()
        close(inference(x), model(x).detach())
    on_device = copy.deepcopy(model.state_dict())
    expected = model(x).detach()
    with torch.no_grad():
        for weight in model.parameters():
            weight.zero_()
    inference.copyWeightsToHost()
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, on_device[name]), name
    close(inference(x), expected)
    inference.detachFromDevice()
    inference.attachToDevice()
    close(inference(x), expected)


def test_loadStateDictUploads():
    model = nn.Linear(2, 1)
    inference = poptorch.inferenceModel(model, options())
    x = torch.ones(1, 2)
    inference(x)
    inference.load_state_dict(
        {"weight": torch.full((1, 2), 2.0), "bias": torch.zeros(1)}
    )
    assert inference(x).item() == 4


def test_destroyedWrapperCompilesAgain():
    model = Small()
    inference = poptorch.inferenceModel(model, options())
    inference(smallData(4)[0])
    assert inference.isCompiled()
    inference.destroy()
    assert not inference.isCompiled()
    assert inference(smallData(6)[0]).shape == (6, 3)


def _counting():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.zeros(1))

        def forward(self, x):
            return x * 2, poptorch.identity_loss(x * self.w, "sum")

    return Model()


@pytest.mark.parametrize(
    "mode, period, expected",
    [
        (poptorch.OutputMode.All, None, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
        (poptorch.OutputMode.Final, None, [11]),
        (poptorch.OutputMode.EveryN, 2, [1, 3, 5, 7, 9, 11]),
        (poptorch.OutputMode.EveryN, 4, [3, 7, 11]),
        (poptorch.OutputMode.Sum, None, [66]),
    ],
)
def test_outputModes(mode, period, expected):
    opts = options(deviceIterations=4)
    opts.Training.gradientAccumulation(3)
    opts.outputMode(mode, period)
    trainer = poptorch.trainingModel(_counting(), opts)
    doubled, loss = trainer(torch.arange(12.0).view(12, 1))
    assert doubled.flatten().tolist() == [2 * v for v in expected]
    assert doubled.shape == (len(expected), 1)
    assert loss.shape == (() if len(expected) == 1 else (len(expected),))


def test_defaultOutputModes():
    opts = options(deviceIterations=3)
    x = torch.arange(3.0).view(3, 1)
    assert poptorch.trainingModel(_counting(), opts)(x)[0].shape == (1, 1)
    assert poptorch.inferenceModel(_counting(), opts)(x)[0].shape == (3, 1)
    assert opts.defaultOutputMode()


def test_structuresArePreserved():
    Pair = collections.namedtuple("Pair", "left right")

    def model(x, scale=2.0):
        return {"a": [x * scale, None], "b": Pair(x + 1, 3), "c": "text"}

    result = poptorch.inferenceModel(model, options())(torch.ones(2))
    assert result["a"][0].tolist() == [2, 2]
    assert result["a"][1] is None
    assert isinstance(result["b"], Pair) and result["b"].right == 3
    assert result["c"] == "text"


def test_constantOutputsAreNotBatched():
    def model(x):
        return x + 1, torch.arange(3, device="ipu")

    inference = poptorch.inferenceModel(model, options(deviceIterations=2))
    _, constant = inference(torch.zeros(2))
    assert constant.tolist() == [0, 1, 2]
    assert constant.dtype == torch.int32


def test_modelsOfConstantsNeedNoDevice(monkeypatch):
    monkeypatch.setenv("ASPEN_SYSTEM", "none")
    executor = poptorch.inferenceModel(
        lambda x: (torch.ones(2, device="ipu"), None, 3),
        options().deviceIterations(2),
    )
    for _ in range(2):
        ones, nothing, three = executor(torch.zeros(4))
        assert torch.equal(ones, torch.ones(2))
        assert nothing is None and three == 3
    assert executor.isCompiled() and executor.isAttachedToDevice()
    executor.detachFromDevice()
    assert not executor.isAttachedToDevice()


def test_sameTensorReturnedTwice():
    def model(x):
        y = x + 1
        return y, y, x

    a, b, c = poptorch.inferenceModel(model, options())(torch.zeros(2))
    assert a.tolist() == b.tolist() == [1, 1]
    assert c.tolist() == [0, 0]
    a.add_(1)
    assert b.tolist() == [1, 1]


def test_outputsAreFreshTensors():
    inference = poptorch.inferenceModel(lambda x: x + 1, options())
    first = inference(torch.zeros(2))
    inference(torch.ones(2))
    assert first.tolist() == [1, 1]
    with pytest.raises(poptorch.Error, match="backward\\(\\) cannot be called"):
        first.backward()


def test_nonContiguousAndLongInputs():
    inference = poptorch.inferenceModel(lambda x: x * 2, options())
    x = torch.arange(6).view(2, 3).t()
    result = inference(x)
    assert result.dtype == torch.int32
    assert result.tolist() == (x * 2).tolist()


def test_inputChangedInPlaceReachesTheCaller():
    def model(x):
        x.mul_(2)
        return x + 1

    x = torch.ones(3)
    result = poptorch.inferenceModel(model, options())(x)
    assert result.tolist() == [3, 3, 3]
    assert x.tolist() == [2, 2, 2]


def test_tensorNamesAndAnchors():
    model = Small()
    opts = options()
    opts.anchorTensor("grad", "Gradient___b.weight")
    opts.outputMode(poptorch.OutputMode.All)
    trainer = poptorch.trainingModel(model, opts)
    with pytest.raises(AssertionError, match="must be compiled before"):
        trainer.getTensorNames()
    x, labels = smallData(4)
    reference = copy.deepcopy(model)
    reference(x, labels)[1].backward()
    trainer(x, labels)
    names = trainer.getTensorNames()
    assert "a.weight" in names and "Gradient___b.weight" in names
    close(trainer.getAnchoredTensor("grad"), reference.b.weight.grad)
    with pytest.raises(AssertionError, match="No tensor with name x found"):
        trainer.getAnchoredTensor("x")


class _Scaled(nn.Module):
    def forward(self, x, scale=2.0):
        return x * scale


def test_offlineTargetCompilesOnly():
    opts = options().useOfflineIpuTarget()
    inference = poptorch.inferenceModel(_Scaled(), opts)
    inference.compile(torch.ones(1))
    assert inference.isCompiled()
    with pytest.raises(AssertionError, match="on an offline device"):
        inference(torch.ones(1))


def test_progressBarAndCompilationTime(capsys):
    inference = poptorch.inferenceModel(_Scaled(), poptorch.Options())
    with pytest.raises(poptorch.Error, match="Please compile the model"):
        inference.compilationTime()
    inference.compile(torch.ones(1))
    shown = capsys.readouterr().err
    assert "Graph compilation: 100%" in shown
    assert "100/100 [" in shown
    assert inference.compilationTime().total_seconds() > 0


def test_profileSummaryIsText():
    inference = poptorch.inferenceModel(_Scaled(), options())
    inference(torch.ones(4))
    assert "Memory" in inference.getProfileSummary()
