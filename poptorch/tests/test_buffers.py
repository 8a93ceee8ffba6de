# Buffers that forward() changes: call after call they are what PyTorch has, on
# the device and, where it is asked, on the host.
import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import poptorch


def options(iterations=1, accumulation=1, replicas=1):
    result = poptorch.Options().showCompilationProgressBar(False)
    result.deviceIterations(iterations).replicationFactor(replicas)
    result.Training.gradientAccumulation(accumulation)
    result.outputMode(poptorch.OutputMode.All).broadcastBuffers(False)
    return result


def step(buffer):
    buffer += 1


def stepElement(buffer):
    buffer[0] += 2


def overwrite(buffer):
    buffer.copy_(buffer * 2 + 1)


def flip(buffer):
    buffer.logical_not_()


def fillThen(buffer):
    buffer.fill_(3)
    buffer.add_(buffer)


def swapElements(buffer):
    buffer[:2] = buffer[:2].flip(0)


DTYPES = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8,
          torch.float32, torch.float16, torch.bool]  # fmt: skip
UPDATES = [step, stepElement, overwrite, fillThen, swapElements, flip]


class Inner(nn.Module):
    def __init__(self, buffer, update):
        super().__init__()
        self.register_buffer("state", buffer)
        self.update = update

    def forward(self):
        before = self.state.float()
        self.update(self.state)
        return before, self.state.float()


class WithBuffer(nn.Module):
    """The buffer before and after, once or twice in a run; two names for it."""

    def __init__(self, buffer, update, times=1):
        super().__init__()
        torch.manual_seed(0)
        self.inner = Inner(buffer, update)
        self.register_buffer("again", buffer)
        self.linear = nn.Linear(3, 1)
        self.times = times

    def forward(self, x):
        values = [self.inner() for _ in range(self.times)]
        loss = F.mse_loss(self.linear(x) * (1 + values[-1][1].mean()), x[:, :1])
        return torch.stack([v for pair in values for v in pair])[None], loss


def initial(dtype):
    return torch.tensor([1, 0, 2]).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("update", UPDATES, ids=lambda u: u.__name__)
def test_inference(dtype, update):
    if dtype == torch.bool and update is not flip:
        pytest.skip("numbers")
    model = WithBuffer(initial(dtype), update, times=2)
    reference = copy.deepcopy(model)
    wrapper = poptorch.inferenceModel(model, options(iterations=2))
    for _ in range(3):
        x = torch.rand(4, 3)
        expected = torch.cat([reference(part)[0] for part in x.split(2)])
        assert torch.equal(wrapper(x)[0], expected)
    wrapper.copyWeightsToHost()
    assert torch.equal(model.again, reference.again)
    assert model.again.dtype == dtype


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    "iterations, accumulation", [(1, 1), (2, 1), (1, 3), (2, 3)]
)
def test_training(dtype, iterations, accumulation):
    update = flip if dtype == torch.bool else step
    model = WithBuffer(initial(dtype), update)
    reference = copy.deepcopy(model)
    optimizer = torch.optim.SGD(reference.parameters(), lr=0.1)
    trainer = poptorch.trainingModel(
        model, options(iterations, accumulation),
        torch.optim.SGD(model.parameters(), lr=0.1),
    )  # fmt: skip
    for round in range(3):
        x = torch.rand(2 * iterations * accumulation, 3)
        expected = []
        for group in x.split(2 * accumulation):
            optimizer.zero_grad()
            for part in group.split(2):
                values, loss = reference(part)
                (loss / accumulation).backward()
                expected.append(values)
            optimizer.step()
        assert torch.equal(trainer(x)[0], torch.cat(expected))
        if round == 1:
            assert torch.equal(model.again, reference.again)
            trainer.detachFromDevice()
    torch.testing.assert_close(dict(model.state_dict()), dict(reference.state_dict()))


@pytest.mark.parametrize("isTraining", [False, True])
def test_detachingKeepsWhatWasCounted(isTraining):
    model = WithBuffer(torch.tensor([0]), step)
    wrapper = (
        poptorch.trainingModel(model, options())
        if isTraining
        else poptorch.inferenceModel(model, options())
    )
    for i in range(3):
        assert wrapper(torch.rand(2, 3))[0][0, 1].item() == i + 1
        wrapper.detachFromDevice()
        assert model.again.item() == i + 1


def test_replicasHaveCountersOfTheirOwn():
    model = WithBuffer(torch.tensor([0]), step)
    wrapper = poptorch.inferenceModel(model, options(2, replicas=2))
    for i in (1, 3):
        after = wrapper(torch.rand(8, 3))[0][:, 1, 0]
        assert after.tolist() == [i, i, i + 1, i + 1]
    shared = options(replicas=2).broadcastBuffers(True)
    with pytest.raises(poptorch.Error, match="broadcasting buffers"):
        poptorch.inferenceModel(model, shared)(torch.rand(4, 3))


def test_queueOfKeys():
    """A ring of rows whose place is a tensor."""

    class Queue(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("rows", torch.zeros(6, 2))
            self.register_buffer("place", torch.zeros(1, dtype=torch.long))

        def forward(self, keys):
            places = (self.place + torch.arange(2)) % 6
            self.rows.index_copy_(0, places, keys)
            self.place.copy_((self.place + 2) % 6)
            return self.rows.clone(), self.place.clone()

    model = Queue()
    reference = copy.deepcopy(model)
    wrapper = poptorch.inferenceModel(model, options())
    for _ in range(5):
        keys = torch.rand(2, 2)
        for got, expected in zip(wrapper(keys), reference(keys)):
            assert torch.equal(got, expected.to(got.dtype))


def test_valuesOfCountersAreForTheRun():
    class Python(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("place", torch.zeros(1, dtype=torch.long))

        def forward(self, x):
            place = int(self.place)
            self.place[0] = place + 1
            return x + place

    with pytest.raises(poptorch.Error, match="item"):
        poptorch.inferenceModel(Python(), options())(torch.ones(1))


def test_integersThatNothingChangesAreConstants(capfd):
    class Permuted(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("order", torch.tensor([2, 0, 1]))

        def forward(self, x):
            return x[:, self.order][:, : int(self.order[0])]

    model = Permuted()
    wrapper = poptorch.inferenceModel(model, options())
    x = torch.rand(2, 3)
    assert torch.equal(wrapper(x), model(x))
    model.order.copy_(torch.tensor([0, 1, 2]))
    assert "is a constant" not in capfd.readouterr().err
    wrapper.copyWeightsToDevice()
    assert "order has changed" in capfd.readouterr().err


class Normed(nn.Module):
    def __init__(self, norm):
        super().__init__()
        torch.manual_seed(0)
        self.norm = norm
        self.linear = nn.Linear(3, 2)

    def forward(self, x):
        y = self.linear(self.norm(x))
        return F.mse_loss(y, x[:, :2])


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("isFrozen", [False, True])
@pytest.mark.parametrize("iterations, accumulation", [(1, 1), (2, 3)])
def test_stateOfNormsAfterTraining(times, isFrozen, iterations, accumulation):
    norm = nn.BatchNorm1d(3)
    model = Normed(nn.Sequential(*[norm] * times))
    norm.train(not isFrozen)
    reference = copy.deepcopy(model)
    trainer = poptorch.trainingModel(
        model, options(iterations, accumulation),
        torch.optim.SGD(model.parameters(), lr=0.0),
    )  # fmt: skip
    for _ in range(2):
        x = torch.randn(4 * iterations * accumulation, 3)
        trainer(x)
        for part in x.split(4):
            reference(part)
        for key, value in reference.state_dict().items():
            torch.testing.assert_close(model.state_dict()[key], value, msg=key)
    model.norm[0].num_batches_tracked.zero_()
    trainer.copyWeightsToDevice()
    trainer(x)
    count = 0 if isFrozen else times * iterations * accumulation
    assert model.state_dict()["norm.0.num_batches_tracked"] == count


@pytest.mark.parametrize("iterations, accumulation", [(1, 1), (2, 3)])
def test_meansOfAllBatches(iterations, accumulation):
    """momentum=None: each batch counts as much as any other."""
    model = Normed(nn.BatchNorm1d(3, momentum=None))
    reference = copy.deepcopy(model)
    trainer = poptorch.trainingModel(
        model, options(iterations, accumulation),
        torch.optim.SGD(model.parameters(), lr=0.0),
    )  # fmt: skip
    for i in range(3):
        x = torch.randn(4 * iterations * accumulation, 3) + i
        trainer(x)
        for part in x.split(4):
            reference(part)
        for key, value in reference.state_dict().items():
            torch.testing.assert_close(model.state_dict()[key], value, msg=key)
    assert model.norm.momentum is None


@pytest.mark.parametrize("momentum", [0.1, None])
def test_stateOfNormsWithReplicas(momentum):
    """The host has the first replica's."""
    model = Normed(nn.BatchNorm1d(3, momentum=momentum))
    reference = copy.deepcopy(model)
    trainer = poptorch.trainingModel(
        model, options(2, 2, replicas=2).broadcastBuffers(True),
        torch.optim.SGD(model.parameters(), lr=0.0),
    )  # fmt: skip
    for _ in range(2):
        x = torch.randn(4 * 8, 3)
        trainer(x)
        for part in x.split(4)[::2]:
            reference(part)
        for key, value in reference.state_dict().items():
            torch.testing.assert_close(model.state_dict()[key], value, msg=key)
