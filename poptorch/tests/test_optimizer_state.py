# The device's part of an optimiser's state, and what optimisers compute with it.
import copy
import pickle

import pytest
import torch

import poptorch
from models import Small, smallData


def options(accumulation=1):
    result = poptorch.Options()
    result.Training.gradientAccumulation(accumulation)
    result.outputMode(poptorch.OutputMode.All)
    return result.showCompilationProgressBar(False)


def train(executor, data, steps):
    return [executor(*data)[1].mean().item() for _ in range(steps)]


def adam(model):
    return poptorch.optim.AdamW(model.parameters(), lr=0.01)


def test_stateIsNoneBeforeTheFirstCompilation():
    state = adam(Small()).state_dict()
    assert state["ipu_state"] is None and state["ipu_param"] is None


def test_stateMovesToAnotherOptimizer():
    torch.manual_seed(3)
    data = smallData(4)
    model = Small()
    optimizer = adam(model)
    executor = poptorch.trainingModel(model, options(), optimizer)
    train(executor, data, 3)
    state = pickle.loads(pickle.dumps(optimizer.state_dict()))
    names = set(state["ipu_state"])
    weights = [n for n, _ in model.named_parameters()]
    for prefix in ("Accl1___", "Accl2___", "Step___"):
        assert names >= {prefix + weight for weight in weights}
    assert state["ipu_state"]["Step___" + weights[0]].item() == 3
    assert any(n.startswith("learningRate") for n in state["ipu_param"])
    weightsBefore = copy.deepcopy(model.state_dict())
    expected = train(executor, data, 3)
    other = Small()
    other.load_state_dict(weightsBefore)
    restored = adam(other)
    restored.load_state_dict(state)
    again = poptorch.trainingModel(other, options(), restored)
    assert train(again, data, 3) == expected
    # Without the state the steps are those of a new optimiser.
    other = Small()
    other.load_state_dict(weightsBefore)
    fresh = poptorch.trainingModel(other, options(), adam(other))
    assert train(fresh, data, 3) != expected


def test_stateSurvivesDetachingAndDestroying():
    torch.manual_seed(3)
    data = smallData(4)
    model = Small()
    plain = copy.deepcopy(model)
    executor = poptorch.trainingModel(model, options(), adam(model))
    losses = train(executor, data, 2)
    executor.detachFromDevice()
    losses += train(executor, data, 2)
    reference = poptorch.trainingModel(plain, options(), adam(plain))
    assert losses == train(reference, data, 4)


def test_foreignStateIsRefused():
    optimizer = adam(Small())
    with pytest.raises(RuntimeError, match="because it is empty"):
        optimizer.load_state_dict({})
    with pytest.raises(RuntimeError, match="Only IPU optimizer states"):
        optimizer.load_state_dict(torch.optim.Optimizer.state_dict(optimizer))


def test_missingStateIsNamed(capfd):
    data = smallData(4)
    model = Small()
    optimizer = adam(model)
    executor = poptorch.trainingModel(model, options(), optimizer)
    train(executor, data, 1)
    state = optimizer.state_dict()
    gone = next(n for n in state["ipu_state"] if n.startswith("Accl1"))
    del state["ipu_state"][gone]
    other = Small()
    restored = adam(other)
    restored.load_state_dict(state)
    train(poptorch.trainingModel(other, options(), restored), data, 1)
    assert f"ignoring missing state {gone}" in capfd.readouterr().err


CLIPPED = {
    "SGD": lambda p, lib, **extra: lib.SGD(p, lr=0.1, momentum=0.9, **extra),
    "Adam": lambda p, lib, **extra: lib.Adam(p, lr=0.05, **extra),
    "AdamW": lambda p, lib, **extra: lib.AdamW(p, lr=0.05, **extra),
}


@pytest.mark.parametrize("kind", CLIPPED)
@pytest.mark.parametrize("norm", [0.05, 100.0], ids=["clips", "passes"])
def test_gradientsAreClippedByTheirNormTogether(kind, norm):
    torch.manual_seed(3)
    x, labels = smallData(8)
    model = Small()
    reference = copy.deepcopy(model)
    make = CLIPPED[kind]
    executor = poptorch.trainingModel(
        model,
        options(accumulation=2),
        make(model.parameters(), poptorch.optim, max_grad_norm=norm),
    )
    losses = train(executor, (x, labels), 5)
    optimizer = make(reference.parameters(), torch.optim)
    expected = []
    for _ in range(5):
        optimizer.zero_grad()
        parts = []
        for half in (slice(0, 4), slice(4, 8)):
            loss = reference(x[half], labels[half])[1]
            (loss / 2).backward()
            parts.append(loss.item())
        torch.nn.utils.clip_grad_norm_(reference.parameters(), norm)
        optimizer.step()
        expected.append(sum(parts) / 2)
    assert losses == pytest.approx(expected, rel=1e-5)


def test_normsAreNumbers():
    with pytest.raises(ValueError, match="cannot be NaN"):
        poptorch.optim.SGD(
            Small().parameters(), lr=0.1, max_grad_norm=float("nan")
        )


def lamb(weights, gradients, state, step, bias_correction):
    """The documented update, in double."""
    for i, (w, g) in enumerate(zip(weights, gradients)):
        m, v = state.setdefault(i, [torch.zeros_like(w), torch.zeros_like(w)])
        m.mul_(0.9).add_(0.1 * g)
        v.mul_(0.999).add_(0.001 * g * g)
        mc = m / (1 - 0.9**step) if bias_correction else m
        vc = v / (1 - 0.999**step) if bias_correction else v
        u = mc / (vc.sqrt() + 1e-8) + 0.01 * w
        r1, r2 = w.norm().clamp(max=65500.0), u.norm()
        trust = r1 / r2 if r1 > 0 and r2 > 0 else 1.0
        w.sub_(0.02 * trust * u)


@pytest.mark.parametrize("bias_correction", [True, False])
def test_lambFollowsItsFormula(bias_correction):
    torch.manual_seed(3)
    data = smallData(4)
    model = Small()
    reference = copy.deepcopy(model).double()
    optimizer = poptorch.optim.LAMB(
        model.parameters(), lr=0.02, bias_correction=bias_correction
    )
    executor = poptorch.trainingModel(model, options(), optimizer)
    losses = train(executor, data, 5)
    expected, state = [], {}
    for step in range(1, 6):
        reference.zero_grad()
        loss = reference(data[0].double(), data[1])[1]
        loss.backward()
        expected.append(loss.item())
        with torch.no_grad():
            lamb(
                list(reference.parameters()),
                [p.grad for p in reference.parameters()],
                state, step, bias_correction,
            )  # fmt: skip
    assert losses == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("bias_correction", [True, False])
def test_lambStepsOnTheHost(bias_correction):
    torch.manual_seed(3)
    weight = torch.nn.Parameter(torch.randn(3, 4, dtype=torch.float64))
    other = torch.nn.Parameter(torch.zeros(2, dtype=torch.float64))
    unused = torch.nn.Parameter(torch.ones(2))
    optimizer = poptorch.optim.LAMB(
        [weight, other, unused], lr=0.02, bias_correction=bias_correction
    )
    expected = [weight.detach().clone(), other.detach().clone()]
    state = {}
    for step in range(1, 5):
        factors = torch.randn(3, 4), torch.randn(2)

        def closure():
            optimizer.zero_grad()
            loss = (weight * factors[0]).sum() + (other * factors[1]).sum()
            loss.backward()
            return loss

        assert optimizer.step(closure).ndim == 0
        lamb(expected, [f.double() for f in factors], state, step,
             bias_correction)  # fmt: skip
    torch.testing.assert_close(weight.detach(), expected[0])
    torch.testing.assert_close(other.detach(), expected[1])
    assert unused.tolist() == [1, 1]
    assert optimizer.step() is None


class Line(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(2, 1)

    def forward(self, x):
        return poptorch.identity_loss(self.lin(x), "sum")


def params(optimizer, accumulation=1):
    """`ipu_param` once the model is compiled."""
    model = Line()
    made = optimizer(model)
    opts = options(accumulation=accumulation)
    executor = poptorch.trainingModel(model, opts, made)
    executor.compile(torch.zeros(4 * accumulation, 2))
    return {n: float(v) for n, v in made.state_dict()["ipu_param"].items()}


def test_namesAndProductsOfHyperparameters():
    optim = poptorch.optim
    found = params(lambda m: optim.SGD(
        m.parameters(), lr=0.05, weight_decay=0.025, loss_scaling=0.75,
        dampening=0))
    assert found == pytest.approx({
        **{f"scaledLearningRate0___specific___lin.{w}": 0.05 / 0.75
           for w in ("weight", "bias")},
        **{f"weightDecayScaleFactor0___specific___lin.{w}": 0.99875
           for w in ("weight", "bias")},
        "lossScaling_FLOAT": 0.75})
    found = params(lambda m: optim.AdamW([
        {"params": [m.lin.weight], "weight_decay": 0.5}, {"params": [m.lin.bias]}],
        lr=0.125, weight_decay=0.25))
    assert found == {
        "learningRate___specific___lin.weight": 0.125,
        "learningRate___specific___lin.bias": 0.125,
        "weightDecay___specific___lin.weight": 0.5,
        "weightDecay___specific___lin.bias": 0.25}
    found = params(lambda m: optim.RMSprop(m.parameters(), lr=0.5, alpha=0.75))
    assert set(found) == {f"{name}___specific___lin.{w}"
                          for name in ("learningRate", "adaptiveAlpha")
                          for w in ("weight", "bias")}


def test_productsOfMomentum():
    def sgd(combined):
        return lambda m: poptorch.optim.SGD(
            [m.lin.bias], lr=0.5, momentum=0.75, dampening=0.5,
            weight_decay=0.125, loss_scaling=4.0, use_combined_accum=combined,
            **({"velocity_scaling": 2.0} if combined else {}))

    name = "{}___specific___lin.bias".format
    # Four micro-batches, whose mean is taken.
    assert params(sgd(True), 4) == {
        name("scaledLearningRate1"): 0.5 / 2,
        name("scaledWeightDecay1"): 0.5 * 0.125 * 2,
        name("dampeningScaleFactor1"): 0.5 * 2 / (4 * 4),
        name("scaledMomentum1"): 0.75, "lossScaling_FLOAT": 4.0}
    assert params(sgd(False), 4) == {
        name("scaledLearningRate2"): 0.5,
        name("scaledWeightDecay1"): 0.5 * 0.125,
        name("dampeningScaleFactor2"): 0.5 / (4 * 4),
        name("scaledMomentum2"): 0.75, "lossScaling_FLOAT": 4.0}


def test_hyperparametersFollowTheOptimizer():
    model = Line()
    optimizer = poptorch.optim.Adam(model.parameters(), lr=0.5)
    executor = poptorch.trainingModel(model, options(), optimizer)
    executor.compile(torch.zeros(4, 2))
    name = "learningRate___specific___lin.bias"
    optimizer.param_groups[0]["lr"] = 0.25
    assert optimizer.state_dict()["ipu_param"][name] == 0.5
    executor.setOptimizer(optimizer)
    assert optimizer.state_dict()["ipu_param"][name] == 0.25


def test_automaticLossScalingKeepsItsFactor():
    """Of float16 gradients that are far from the end of their range."""
    model = Line().half()
    optimizer = poptorch.optim.SGD(
        model.parameters(), lr=0.0, loss_scaling=8.0, momentum=0.5)
    opts = options()
    opts.Training.setAutomaticLossScaling(True)
    opts.anchorTensor("scale", "finalLossScale", poptorch.OutputMode.Final)
    executor = poptorch.trainingModel(model, opts, optimizer)
    x = torch.ones(4, 2).half()
    for factor in (1, 2, 4):
        if executor.isCompiled():
            state = optimizer.state_dict()["ipu_state"]
            assert state["lossScaleUpdateFactor"] == factor
        executor(x)
        assert executor.getAnchoredTensor("scale") == 8.0 * factor
    state = copy.deepcopy(optimizer.state_dict())
    other = Line().half()
    restored = poptorch.optim.SGD(
        other.parameters(), lr=0.0, loss_scaling=8.0, momentum=0.5)
    restored.load_state_dict(state)
    executor = poptorch.trainingModel(other, opts, restored)
    executor(x)
    assert executor.getAnchoredTensor("scale") == 8.0 * 8


class Staged(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = torch.nn.Linear(4, 8), torch.nn.Linear(8, 3)

    def forward(self, x, labels):
        with poptorch.Block(ipu_id=0):
            x = torch.relu(self.first(x))
        with poptorch.Block(ipu_id=1):
            return torch.nn.functional.cross_entropy(self.last(x), labels)


@pytest.mark.parametrize(
    "optimizer",
    [
        lambda p: poptorch.optim.AdamW(p, lr=0.01, loss_scaling=64.0),
        lambda p: poptorch.optim.SGD(
            p, lr=0.1, momentum=0.9, loss_scaling=64.0),
        lambda p: poptorch.optim.SGD(
            p, lr=0.1, momentum=0.9, loss_scaling=64.0,
            use_combined_accum=True),
    ],
)  # fmt: skip
@pytest.mark.parametrize("replicas", [1, 2])
def test_automaticLossScalingInAPipeline(optimizer, replicas):
    """All stages take the scale that the loss had, so that they learn what
    they learn without it."""
    losses = {}
    x, labels = torch.randn(24, 4), torch.randint(0, 3, (24,))
    for isAutomatic in (False, True):
        torch.manual_seed(5)
        model = Staged().half()
        opts = options(accumulation=4).deviceIterations(6 // replicas)
        opts.replicationFactor(replicas)
        if isAutomatic:
            opts.Training.setAutomaticLossScaling(True)
            opts.anchorTensor("scale", "finalLossScale", poptorch.OutputMode.All)
        executor = poptorch.trainingModel(
            model, opts, optimizer(model.parameters())
        )
        losses[isAutomatic] = executor(x.half(), labels).tolist()
    scales = executor.getAnchoredTensor("scale").view(6 // replicas, -1)
    for number, scale in enumerate(scales):
        assert set(scale.tolist()) == {64.0 * 2**number}
    assert losses[True] == pytest.approx(losses[False], abs=5e-3)


def test_velocityScalingChangesNothing():
    torch.manual_seed(3)
    data = smallData(4)
    model = Small()
    reference = copy.deepcopy(model)
    executor = poptorch.trainingModel(
        model,
        options(),
        poptorch.optim.SGD(
            model.parameters(), lr=0.1, momentum=0.9, velocity_scaling=64.0,
            use_combined_accum=True,
        ),
    )  # fmt: skip
    optimizer = torch.optim.SGD(reference.parameters(), lr=0.1, momentum=0.9)
    expected = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = reference(*data)[1]
        loss.backward()
        optimizer.step()
        expected.append(loss.item())
    assert train(executor, data, 5) == pytest.approx(expected, rel=1e-5)


def dampened(parameters, library, **extra):
    return library.SGD(
        parameters, lr=0.1, momentum=0.9, dampening=0.5, weight_decay=0.01,
        **extra,
    )  # fmt: skip


def referenceLosses(model, optimizer, data, steps, accumulation):
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        parts = [
            model(x, labels)[1]
            for x, labels in zip(*(part.chunk(accumulation) for part in data))
        ]
        (sum(parts) / accumulation).backward()
        optimizer.step()
        losses.append(sum(parts).item() / accumulation)
    return losses


@pytest.mark.parametrize("accumulation", [1, 2])
@pytest.mark.parametrize("combined", [False, True])
def test_theFirstStepIsNotDampened(combined, accumulation):
    torch.manual_seed(3)
    data = smallData(4 * accumulation)
    model = Small()
    reference = copy.deepcopy(model)
    extra = {"use_combined_accum": combined}
    optimizer = dampened(model.parameters(), poptorch.optim, **extra)
    executor = poptorch.trainingModel(model, options(accumulation), optimizer)
    losses = train(executor, data, 2)
    # Another session goes on where the state says, not with a first step.
    state = optimizer.state_dict()
    executor.destroy()
    restored = dampened(model.parameters(), poptorch.optim, **extra)
    restored.load_state_dict(state)
    again = poptorch.trainingModel(model, options(accumulation), restored)
    losses += train(again, data, 3)
    assert losses == pytest.approx(
        referenceLosses(
            reference, dampened(reference.parameters(), torch.optim), data, 5,
            accumulation,
        ),
        rel=1e-5,
    )  # fmt: skip


@pytest.mark.parametrize("library", [torch.optim, poptorch.optim])
def test_dampeningNeedsMomentum(library):
    """In PopTorch's optimiser a momentum that is given may change later."""
    torch.manual_seed(3)
    data = smallData(4)
    model = Small()
    reference = copy.deepcopy(model)
    arguments = {"lr": 0.1, "momentum": 0.0, "dampening": 0.5}
    executor = poptorch.trainingModel(
        model, options(), library.SGD(model.parameters(), **arguments)
    )
    optimizer = torch.optim.SGD(reference.parameters(), **arguments)
    expected = referenceLosses(reference, optimizer, data, 4, 1)
    assert train(executor, data, 4) == pytest.approx(expected, rel=1e-5)
