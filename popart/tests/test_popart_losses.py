"""nllloss of probabilities and of their logarithms: values and gradients against
PyTorch's cross entropy, from even to extreme scores."""
import itertools

import numpy as np
import popart
import pytest
import torch
from torch.nn import functional as F

REDUCTIONS = {popart.ReductionType.Mean: "mean", popart.ReductionType.Sum: "sum",
              popart.ReductionType.NoReduction: "none"}
SMALLEST = {"FLOAT": 1e-7, "FLOAT16": 6.104e-5}
TYPES = {"FLOAT": np.float32, "FLOAT16": np.float16}


def train(scores, labels, reduction, dtype="FLOAT", ignored=None, is_log=False,
          patterns=None, anchors=(), is_direct=False, label_type="INT32"):
    """The loss and the gradient by the scores, or by the probabilities that they
    are where `is_direct`."""
    builder = popart.Builder()
    x = builder.addInputTensor(dtype, scores.shape, "x")
    y = builder.addInputTensor(label_type, labels.shape, "y")
    axis = len(scores.shape) - 1
    opset = builder.aiOnnx
    p = x if is_direct else (opset.logsoftmax if is_log else opset.softmax)(
        [x], axis)
    loss = builder.aiGraphcore.nllloss([p, y], reduction, ignoreIndex=ignored,
                                       inputIsLogProbability=is_log)
    total = loss
    if reduction == popart.ReductionType.NoReduction:
        total = builder.aiGraphcore.identityloss([loss],
                                                 popart.ReductionType.Sum)
    builder.addOutputTensor(total)
    wanted = [loss, "Gradient___" + x] + [name.format(p) for name in anchors]
    session = popart.TrainingSession(
        builder.getModelProto(), popart.DataFlow(1, wanted), total,
        popart.ConstSGD(0.1), popart.DeviceManager().createCpuDevice(),
        patterns=patterns)
    session.prepareDevice()
    session.weightsFromHost()
    arrays = session.initAnchorArrays()
    session.run(popart.PyStepIO(
        {x: scores.astype(TYPES[dtype]),
         y: labels.astype(label_type.lower())}, arrays))
    return [arrays[name].astype(np.float64) for name in wanted]


def expected(scores, labels, reduction, dtype, ignored, is_log):
    """In double precision; the loss ends where the smallest probability does."""
    x = torch.tensor(scores.astype(TYPES[dtype]).astype(np.float64),
                     requires_grad=True)
    rows = x.reshape(-1, x.shape[-1])
    losses = F.cross_entropy(rows, torch.tensor(labels).flatten().long(),
                             ignore_index=-100 if ignored is None else ignored,
                             reduction="none").reshape(labels.shape)
    count = max(1, labels.size - np.count_nonzero(labels == ignored))
    divisor = count if REDUCTIONS[reduction] == "mean" else 1
    (losses.sum() / divisor).backward()
    losses = losses.detach().numpy()
    if not is_log:
        losses = np.minimum(losses, -np.log(SMALLEST[dtype]))
    if REDUCTIONS[reduction] != "none":
        losses = losses.sum() / divisor
    return losses, x.grad.numpy()


def scores_of(gap, shape=(2, 3, 5)):
    random = np.random.default_rng(3)
    return random.standard_normal(shape) + gap * random.integers(0, 2, shape)


@pytest.mark.parametrize(
    "executor, dtype, is_log, reduction, ignored",
    itertools.product(["fast", "reference"], TYPES, [False, True], REDUCTIONS,
                      [None, 1, -100]))
@pytest.mark.parametrize("gap", [0, 10, 17, 60])
def test_loss_and_gradient_are_those_of_cross_entropy(
        executor, dtype, is_log, reduction, ignored, gap, monkeypatch):
    monkeypatch.setenv("ASPEN_EXECUTOR", executor)
    scores = scores_of(gap)
    labels = np.array([[0, 1, 4], [1, 2, 3]])
    if ignored == -100:
        labels[1, 1] = -100
    found = train(scores, labels, reduction, dtype, ignored, is_log)
    tolerance = {"FLOAT": 2e-5, "FLOAT16": 1e-2}[dtype]
    for result, value in zip(found, expected(scores, labels, reduction, dtype,
                                             ignored, is_log)):
        np.testing.assert_allclose(result, value, rtol=tolerance,
                                   atol=tolerance / 10)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("gap", [10, 17, 80])
def test_a_sure_mistake_has_all_of_its_gradient(dtype, gap):
    _, gradient = train(np.array([[gap, 0.0]]), np.array([1]),
                        popart.ReductionType.Sum, dtype)
    np.testing.assert_allclose(gradient, [[1, -1]], atol=5e-5)


@pytest.mark.parametrize("dtype, p, loss, gradient", [
    ("FLOAT", 4.5e-8, 16.118, -2.2222e7), ("FLOAT", 1e-12, 16.118, -1e10),
    ("FLOAT", 0.0, 16.118, -1e10), ("FLOAT16", 4.5e-5, 9.704, -16384.0),
    ("FLOAT16", 0.25, 1.3863, -4.0)])
def test_probabilities_without_a_softmax(dtype, p, loss, gradient):
    found = train(np.array([[1 - p, p]]), np.array([1]),
                  popart.ReductionType.Sum, dtype, is_direct=True)
    np.testing.assert_allclose(found[0], loss, rtol=1e-3)
    np.testing.assert_allclose(found[1], [[0, gradient]], rtol=2e-3)


# What divides by the probability and multiplies by it again loses a little of
# halves, and nothing of floats here.
@pytest.mark.parametrize("dtype, most", [("FLOAT", 1e-4), ("FLOAT16", 0.3)])
@pytest.mark.parametrize("is_off", [True, False])
def test_an_anchored_gradient_is_not_left_out(dtype, most, is_off):
    arguments = ({"patterns": popart.Patterns(popart.PatternsLevel.Default)
                  .enablePattern("SoftmaxGradDirect", False)} if is_off
                 else {"anchors": ["Gradient___{}"]})
    found = train(np.array([[10.0, 0.0]]), np.array([1]),
                  popart.ReductionType.Sum, dtype, **arguments)
    np.testing.assert_allclose(found[1], [[1, -1]], atol=most)
    assert np.all(np.abs(found[1]) > 0.5)
    if dtype == "FLOAT" and not is_off:
        np.testing.assert_allclose(found[2], [[0, -1 - np.exp(10)]], rtol=1e-4)


@pytest.mark.parametrize("is_log", [False, True])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_nothing_is_learned_where_all_labels_are_ignored(is_log, reduction):
    loss, gradient = train(scores_of(1, (2, 3)), np.array([-100, -100]),
                           reduction, ignored=-100, is_log=is_log)
    assert np.all(loss == 0) and np.all(gradient == 0)


@pytest.mark.parametrize("label_type", ["UINT32", "INT64", "INT16", "UINT8"])
def test_labels_of_any_integers(label_type):
    scores, labels = scores_of(3), np.array([[0, 1, 4], [1, 2, 3]])
    for found, value in zip(
            train(scores, labels, popart.ReductionType.Mean,
                  label_type=label_type),
            expected(scores, labels, popart.ReductionType.Mean, "FLOAT", None,
                     False)):
        np.testing.assert_allclose(found, value, rtol=2e-5, atol=1e-6)


def test_two_losses_of_one_softmax():
    """The gradients of both meet in the probabilities."""
    builder = popart.Builder()
    scores, labels = scores_of(2, (4, 3)), np.array([0, 1, 2, 1])
    x = builder.addInputTensor("FLOAT", [4, 3], "x")
    y = builder.addInputTensor("INT32", [4], "y")
    p = builder.aiOnnx.softmax([x], 1)
    total = builder.aiOnnx.sum([
        builder.aiGraphcore.nllloss([p, y]),
        builder.aiGraphcore.l1loss([p], 0.5)])
    session = popart.TrainingSession(
        builder.getModelProto(), popart.DataFlow(1, ["Gradient___x"]), total,
        popart.ConstSGD(0.1), popart.DeviceManager().createCpuDevice())
    session.prepareDevice()
    session.weightsFromHost()
    arrays = session.initAnchorArrays()
    session.run(popart.PyStepIO({x: scores.astype(np.float32),
                                 y: labels.astype(np.int32)}, arrays))
    tensor = torch.tensor(scores, requires_grad=True)
    probabilities = torch.softmax(tensor, 1)
    (F.nll_loss(probabilities.log(), torch.tensor(labels)) +
     0.5 * probabilities.abs().mean()).backward()
    np.testing.assert_allclose(arrays["Gradient___x"], tensor.grad, rtol=1e-4,
                               atol=1e-6)
