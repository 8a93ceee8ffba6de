# Random operators and dropout: no two libraries draw the same numbers, so they
# are held to their distributions.
import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import poptorch

COUNT = 20000


def options(seed=42):
    return (
        poptorch.Options()
        .showCompilationProgressBar(False)
        .randomSeed(seed)
    )


def draw(function, *inputs, seed=42):
    model = poptorch.inferenceModel(function, options(seed))
    result = model(*(inputs or (torch.zeros(COUNT),)))
    model.destroy()
    return result


# name: a function of COUNT zeros, the mean and standard deviation of its results
# and the interval that they lie in.
DISTRIBUTIONS = {
    "rand": (lambda x: x + torch.rand(COUNT), 0.5, math.sqrt(1 / 12), 0, 1),
    "rand_like": (torch.rand_like, 0.5, math.sqrt(1 / 12), 0, 1),
    "randn": (lambda x: x + torch.randn(COUNT), 0, 1, -6, 6),
    "randn_like": (torch.randn_like, 0, 1, -6, 6),
    "uniform": (lambda x: x.uniform_(-1, 3), 1, 4 * math.sqrt(1 / 12), -1, 3),
    "normal": (lambda x: x.normal_(2, 3), 2, 3, -16, 20),
    "normal_numbers": (lambda x: x + torch.normal(1.0, 2.0, (COUNT,)), 1, 2,
                       -11, 13),
    "normal_tensors": (lambda x: torch.normal(x + 1, x + 2), 1, 2, -11, 13),
    "normal_mean": (lambda x: torch.normal(x + 1, 0.5), 1, 0.5, -3, 5),
    "normal_names": (lambda x: torch.normal(mean=x + 1, std=3.0), 1, 3, -17, 19),
    "normal_deviation": (lambda x: torch.normal(mean=1.0, std=x + 2), 1, 2,
                         -11, 13),
    "normal_size": (lambda x: x + torch.normal(
        mean=1.0, std=2.0, size=(COUNT,)), 1, 2, -11, 13),
    "exponential": (lambda x: x.exponential_(2), 0.5, 0.5, 0, 20),
    "bernoulli": (lambda x: torch.bernoulli(x + 0.3), 0.3, math.sqrt(0.21),
                  0, 1),
    "bernoulli_number": (lambda x: x.bernoulli_(0.3), 0.3, math.sqrt(0.21),
                         0, 1),
    "randint": (lambda x: x + torch.randint(2, 7, (COUNT,)), 4, math.sqrt(2),
                2, 6),
    "randint_high": (lambda x: x + torch.randint(5, (COUNT,)), 2,
                     math.sqrt(2), 0, 4),
    "random": (lambda x: x.random_(2, 7), 4, math.sqrt(2), 2, 6),
    "rrelu": (lambda x: F.rrelu(x - 1, 0.1, 0.3, training=True), -0.2,
              0.2 * math.sqrt(1 / 12), -0.3, -0.1),
    "Bernoulli": (lambda x: torch.distributions.Bernoulli(x + 0.3).sample(),
                  0.3, math.sqrt(0.21), 0, 1),
    "Normal": (lambda x: torch.distributions.Normal(x + 1, x + 2).sample(),
               1, 2, -11, 13),
    "Uniform": (lambda x: torch.distributions.Uniform(x - 1, x + 3).sample(),
                1, 4 * math.sqrt(1 / 12), -1, 3),
    "Exponential": (
        lambda x: torch.distributions.Exponential(x + 2).sample(),
        0.5, 0.5, 0, 20),
}  # fmt: skip


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_numbersFollowTheirDistribution(name):
    function, mean, deviation, low, high = DISTRIBUTIONS[name]
    numbers = draw(function).double()
    assert numbers.shape == (COUNT,)
    # Five times the standard deviation of the estimates.
    assert abs(numbers.mean() - mean) < 5 * deviation / math.sqrt(COUNT)
    assert abs(numbers.std() / deviation - 1) < 0.05
    assert low <= numbers.min() and numbers.max() <= high


def test_halfNumbers():
    numbers = draw(lambda x: x.half().normal_(2, 3))
    assert numbers.dtype == torch.half
    assert abs(numbers.double().mean() - 2) < 0.15


def test_permutationsHaveEveryNumberOnce():
    drawn = draw(lambda x: x.long() + torch.randperm(1000), torch.zeros(1))
    assert not torch.equal(drawn, torch.arange(1000).to(drawn.dtype))
    assert torch.equal(drawn.sort()[0], torch.arange(1000).to(drawn.dtype))


def test_seedDecidesAndCallsDiffer():
    def function(x):
        return x + torch.randn(8), x + torch.randn(8)

    first, second = draw(function, torch.zeros(8))
    assert not torch.equal(first, second)
    again, _ = draw(function, torch.zeros(8))
    assert torch.equal(first, again)
    other, _ = draw(function, torch.zeros(8), seed=43)
    assert not torch.equal(first, other)
    model = poptorch.inferenceModel(function, options())
    assert not torch.equal(model(torch.zeros(8))[0], model(torch.zeros(8))[0])


class Dropping(nn.Module):
    def __init__(self, layer, shape):
        super().__init__()
        self.layer = layer
        self.values = nn.Parameter(torch.ones(shape))

    def forward(self, unit):
        y = self.layer(self.values * unit)
        return y, poptorch.identity_loss(y, "sum")


def train(layer, shape):
    """The results of a step and the gradients of its inputs, all ones."""
    model = Dropping(layer, shape)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    trainer = poptorch.trainingModel(model, options(), optimizer)
    results = trainer(torch.ones(()))[0]
    trainer.copyWeightsToHost()
    gradients = 1 - model.values.detach()
    trainer.destroy()
    return results, gradients


def test_dropoutKeepsAndScales():
    results, gradients = train(nn.Dropout(0.25), (100, 200))
    kept = results != 0
    assert abs(kept.double().mean() - 0.75) < 5 * math.sqrt(0.1875 / COUNT)
    torch.testing.assert_close(results[kept], torch.full_like(
        results[kept], 1 / 0.75))
    torch.testing.assert_close(gradients, results)


def test_dropoutOfEverything():
    results, gradients = train(nn.Dropout(1.0), (4, 5))
    assert not results.any() and not gradients.any()


def test_dropout2dDropsChannels():
    results, gradients = train(nn.Dropout2d(0.5), (100, 50, 3, 2))
    channels = results.amax((2, 3))
    assert torch.equal(results.amin((2, 3)), channels)
    assert abs((channels != 0).double().mean() - 0.5) < 0.04
    torch.testing.assert_close(gradients, results)


def test_alphaDropoutKeepsMeanAndDeviation():
    layer = nn.Sequential(nn.AlphaDropout(0.2))
    results, _ = train(layer, (100, 200))
    assert len(results.unique()) == 2
    assert abs((results == results.max()).double().mean() - 0.8) < 0.02


def test_negativeSeedsAreThoseOfTorch():
    last = draw(torch.rand_like, seed=2**64 - 1)
    assert torch.equal(draw(torch.rand_like, seed=-1), last)
    assert not torch.equal(draw(torch.rand_like, seed=1), last)
