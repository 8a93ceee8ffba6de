# The documented errors of wrappers, by the fragments that users search for.
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



@pytest.mark.parametrize(
    "second, message",
    [
        (lambda x: ((x[:2],), {}), "Shape mismatch for x: expected"),
        (lambda x: ((x.half(),), {}), "Data type mismatch for x: expected"),
        (lambda x: ((3,), {}), "Type mismatch for x: expected"),
        (lambda x: ((x, 3.0), {}), "Value mismatch for scale: expected 2.0"),
    ],
)
def test_changedInputsAreErrors(second, message):
    inference = poptorch.inferenceModel(_Scaled(), options())
    x = torch.ones(4)
    inference(x)
    args, kwargs = second(x)
    with pytest.raises(poptorch.Error, match=message) as caught:
        inference(*args, **kwargs)
    assert "don't match the inputs used to compile" in str(caught.value)
    assert caught.value.type == "poptorch_py_error"
    assert caught.value.message.startswith(message.split(":")[0])


class _Scaled(nn.Module):
    def forward(self, x, scale=2.0):
        return x * scale


def test_wrongArgumentsAreErrors():
    inference = poptorch.inferenceModel(_Scaled(), options())
    with pytest.raises(poptorch.Error, match="Mandatory parameter x missing"):
        inference()
    with pytest.raises(AssertionError, match="Too many arguments provided"):
        inference(1, 2, 3)
    with pytest.raises(AssertionError, match="y is not a valid parameter"):
        inference(torch.ones(1), y=2)
    with pytest.raises(poptorch.Error, match="passed more than once"):
        inference(torch.ones(1), x=2)


def test_batchDimensionMustDivide():
    inference = poptorch.inferenceModel(_Scaled(), options(deviceIterations=3))
    with pytest.raises(AssertionError, match="Invalid batch dimension"):
        inference(torch.ones(4))


def test_lossErrors():
    class None_(Small):
        def forward(self, x, labels):
            return super().forward(x)

    class Two(Small):
        def forward(self, x, labels):
            y, loss = super().forward(x, labels)
            return loss, torch.nn.functional.mse_loss(y, y * 0)

    for model, message in (
        (None_(), "Couldn't find a loss in graph!"),
        (Two(), "Multiple independent losses found in graph"),
    ):
        with pytest.raises(poptorch.Error, match=message) as caught:
            poptorch.trainingModel(model, options())(*smallData(4))
        assert caught.value.type == "poptorch_cpp_error"


def test_unsupportedOpsAreListedWithTheirLines():
    def model(x):
        y = torch.linalg.det(x)
        return y + torch.special.erfcx(x).sum()

    with pytest.raises(
        poptorch.Error, match="Unsupported ops found in compiled model"
    ) as caught:
        poptorch.inferenceModel(model, options())(torch.eye(2))
    line = model.__code__.co_firstlineno + 2
    assert f"aten::special_erfcx (called in {__file__}:{line})" in str(caught.value)


def test_argumentsThatAreRefusedNameTheirLine():
    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = torch.nn.LSTM(3, 4, num_layers=2)

        def forward(self, x):
            return self.lstm(x)[0]

    with pytest.raises(
        poptorch.Error, match="Only LSTM with 1 layer supported"
    ) as caught:
        poptorch.inferenceModel(Layer(), options())(torch.zeros(5, 2, 3))
    line = Layer.forward.__code__.co_firstlineno + 1
    assert f"(called in {__file__}:{line})" in str(caught.value)


def refused(function, *shapes, dtype=torch.float):
    inputs = [torch.zeros(shape, dtype=dtype) for shape in shapes]
    return function, inputs


REFUSALS = {
    "Only LSTM with 1 layer supported": refused(
        torch.nn.LSTM(3, 4, num_layers=2), (5, 2, 3)),
    "bidirectional GRU not supported": refused(
        torch.nn.GRU(3, 4, bidirectional=True), (5, 2, 3)),
    "RNN only supports dropout = 0.0": refused(
        torch.nn.RNN(3, 4, dropout=0.5), (5, 2, 3)),
    "LSTM without biases not supported": refused(
        torch.nn.LSTM(3, 4, bias=False), (5, 2, 3)),
    "RNN without biases not supported": refused(
        torch.nn.RNN(3, 4, bias=False), (5, 2, 3)),
    "The start and end of a slice must be different.": refused(
        lambda x: x[2:2], (4,)),
    "OneHot num classes must be specified and must be constant.": refused(
        torch.nn.functional.one_hot, (3,), dtype=torch.int64),
    "Matrix 2-norm is not supported.": refused(
        lambda x: torch.linalg.matrix_norm(x, 2), (3, 3)),
    "Matrix nuclear norm is not supported.": refused(
        lambda x: torch.linalg.matrix_norm(x, "nuc"), (3, 3)),
    "Bitwise-and operator supports only bool and integer types": refused(
        torch.bitwise_and, (3,), (3,)),
    "Poplar does not support binary operations on 8-bit integral types.":
        refused(torch.bitwise_or, (3,), (3,), dtype=torch.int8),
    'CTCLoss with reduction="none" is currently not supported': refused(
        lambda x: torch.nn.functional.ctc_loss(
            x, torch.ones(2, 2, dtype=torch.int64), (4, 4), (2, 2),
            reduction="none"), (4, 2, 3)),
    "Unsupported aten::embedding operation": refused(
        lambda w: torch.nn.functional.embedding(
            torch.zeros(2, dtype=torch.int64), w, sparse=True), (3, 4)),
    "aten::item is only supported in eager mode": refused(
        lambda x: x * x.sum().item(), (3,)),
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSALS)
def test_operatorsThatAreRefused(message):
    function, inputs = REFUSALS[message]
    with pytest.raises(poptorch.Error, match=message):
        poptorch.inferenceModel(function, options())(*inputs)


def test_pipelineNeedsEnoughMicroBatches():
    class Model(Small):
        def forward(self, x, labels=None):
            with poptorch.Block("0", ipu_id=0):
                x = self.a(x)
            with poptorch.Block("1", ipu_id=1):
                x = self.b(x)
                if labels is None:
                    return x
                return torch.nn.functional.cross_entropy(x, labels)

    model = Model()
    with pytest.raises(
        poptorch.Error,
        match=r"gradientAccumulation must be greater than or equal to the "
        r"number of pipeline stages \(3\)",
    ):
        poptorch.trainingModel(model, options())(*smallData(4))
    with pytest.raises(
        poptorch.Error,
        match=r"deviceIterations must be greater than or equal to the number "
        r"of pipeline stages \(2\)",
    ):
        poptorch.inferenceModel(Model(), options())(smallData(4)[0])


def test_otherDocumentedErrors():
    with pytest.raises(poptorch.Error, match="Invalid type: 'options'"):
        poptorch.inferenceModel(nn.ReLU(), 3)
    accumulating = options()
    accumulating.Training.gradientAccumulation(2)
    with pytest.raises(poptorch.Error, match="gradientAccumulation to 1"):
        poptorch.inferenceModel(nn.ReLU(), accumulating)
    fresh = poptorch.inferenceModel(nn.ReLU(), options())
    for method in (
        fresh.detachFromDevice,
        fresh.attachToDevice,
        fresh.copyWeightsToHost,
        fresh.getProfileSummary,
    ):
        with pytest.raises(poptorch.Error, match="has not been compiled"):
            method()
    layer = poptorch.BeginBlock(nn.ReLU(), "a", 0)
    with pytest.raises(poptorch.Error, match="already been assigned"):
        poptorch.BeginBlock(layer, "b", 0)
    with pytest.raises(AssertionError, match="Unsupported reduction type!"):
        poptorch.identity_loss(torch.ones(1), "max")
    bad = options()
    bad._Popart.set("nonsense", 1.5)
    with pytest.raises(
        poptorch.Error, match="Unknown floating point option nonsense"
    ):
        poptorch.inferenceModel(nn.ReLU(), bad)(torch.ones(1))


def test_threeIpusMustBeRounded():
    def model(x):
        for i in range(3):
            with poptorch.Block(str(i), ipu_id=i):
                x = x + 1
        return x

    opts = options(deviceIterations=3)
    with pytest.raises(poptorch.Error, match="must reserve a minimum of 4"):
        poptorch.inferenceModel(model, opts)(torch.zeros(3))
    opts = opts.clone().autoRoundNumIPUs(True)
    assert poptorch.inferenceModel(model, opts)(torch.zeros(3)).tolist() == [
        3,
        3,
        3,
    ]


def test_whatWouldChangeResultsIsRefused():
    """Features that are not there yet raise instead of being ignored."""
    x, labels = smallData(4)
    scaling = options()
    scaling.Training.setAutomaticLossScaling(True)
    with pytest.raises(poptorch.Error, match="No tracked gradient tensors of type fp16"):
        poptorch.trainingModel(Small(), scaling)(x, labels)


def test_errorsOfEveryLayerHaveTheirClassAndType():
    kinds = poptorch.poptorch_core.TestErrorType
    for kind, cls, name in (
        (kinds.Poptorch, poptorch.Error, "poptorch_cpp_error"),
        (kinds.Popart, poptorch.Error, "popart_exception"),
        (kinds.PopartInternal, poptorch.Error, "popart_internal_exception"),
        (kinds.Poplibs, poptorch.Error, "poplibs_exception"),
        (kinds.PoplarUnrecoverable, poptorch.UnrecoverableError,
         "poplar_unrecoverable_runtime_error"),
        (kinds.PoplarUnknown, poptorch.Error, "poplar_unknown_runtime_error"),
        (kinds.PoplarRecoverableFullReset, poptorch.RecoverableError,
         "poplar_recoverable_runtime_error"),
        (kinds.PoplarLinkError, poptorch.Error, "poplar_link_error"),
    ):  # fmt: skip
        with pytest.raises(poptorch.Error, match=f"'{name}': ") as caught:
            poptorch.poptorch_core._throwTestError(kind)
        assert caught.type is cls
        assert caught.value.type == name
        assert caught.value.message and caught.value.location == ""
    with pytest.raises(
        poptorch.RecoverableError, match="Recovery action required: FULL_RESET"
    ) as caught:
        poptorch.poptorch_core._throwTestError(kinds.PoplarRecoverableFullReset)
    assert caught.value.recovery_action == "FULL_RESET"


def test_errorsSayWhereTheyWereRaised(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    options = poptorch.Options().showCompilationProgressBar(False)
    executor = poptorch.inferenceModel(torch.nn.LSTM(2, 2, 2), options)
    with pytest.raises(poptorch.Error) as caught:
        executor(torch.zeros(1, 1, 2))
    places = "  [0] LowerToPopart::lower\n  [1] LowerToPopart::compile"
    assert caught.value.location == places
    assert str(caught.value).endswith("\nError raised in:\n" + places)
    assert not list(tmp_path.iterdir())


def test_longErrorsGoToAFile(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    class Long(torch.nn.Module):
        def forward(self, x):
            name = "\n".join(map(str, range(90)))
            return poptorch.custom_op([x], name, "nobody", 1, [x])[0]

    options = poptorch.Options().showCompilationProgressBar(False)
    with pytest.raises(poptorch.Error) as caught:
        poptorch.inferenceModel(Long(), options)(torch.zeros(2))
    assert caught.value.message == "See poptorch_error.log for details"
    assert "\n88\n89" in (tmp_path / "poptorch_error.log").read_text()
