# Training end to end, against PyTorch.
import copy

import pytest
import torch

import poptorch
from models import (
    Classifier,
    Small,
    classifierData,
    smallData,
    trainWithTorch,
)

BATCH = 4


def pipeline():
    return poptorch.PipelinedExecution(poptorch.AutoStage.SameAsIpu)


def oneIpu():
    return poptorch.ShardedExecution(
        poptorch.Stage("first", "second").ipu(0)
    )


def options(strategy, iterations=1, accumulation=1):
    result = poptorch.Options()
    result.deviceIterations(iterations)
    result.Training.gradientAccumulation(accumulation)
    result.setExecutionStrategy(strategy)
    result.outputMode(poptorch.OutputMode.All)
    result.showCompilationProgressBar(False)
    return result


@pytest.mark.parametrize(
    "strategy, iterations, accumulation",
    [
        (oneIpu, 1, 1),
        (oneIpu, 1, 4),
        (oneIpu, 10, 1),
        (pipeline, 1, 4),
        (pipeline, 5, 4),
        (poptorch.ShardedExecution, 1, 1),
    ],
    ids=["plain", "accumulation", "iterations", "pipeline",
         "pipeline_iterations", "sharded"],
)  # fmt: skip
@pytest.mark.parametrize("batch", [4, 16])  # 16 fill the lanes of a vector
def test_lossesEqualPyTorchs(strategy, iterations, accumulation, batch):
    torch.manual_seed(0)
    model = Classifier()
    reference = copy.deepcopy(model)
    micro_batches = max(20, iterations * accumulation)
    x, labels = classifierData(batch * micro_batches)
    expected = trainWithTorch(
        reference,
        torch.optim.SGD(reference.parameters(), lr=0.05, momentum=0.9),
        x,
        labels,
        batch,
        accumulation,
    )
    optimizer = poptorch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    trainer = poptorch.trainingModel(
        model, options(strategy(), iterations, accumulation), optimizer
    )
    step = batch * iterations * accumulation
    losses = []
    for start in range(0, x.shape[0], step):
        rows = slice(start, start + step)
        _, loss = trainer(x[rows], labels[rows])
        losses.append(loss.reshape(-1))
    torch.testing.assert_close(
        torch.cat(losses), expected, rtol=1e-5, atol=1e-6
    )
    for name, parameter in reference.named_parameters():
        torch.testing.assert_close(
            model.state_dict()[name], parameter.detach(), rtol=1e-4, atol=1e-5
        )
    trainer.destroy()


def _optimizers(parameters):
    parameters = list(parameters)
    torch_optim = torch.optim
    return {
        "sgd": torch_optim.SGD(parameters, lr=0.1),
        "momentum": torch_optim.SGD(parameters, lr=0.1, momentum=0.9),
        "nesterov": torch_optim.SGD(
            parameters, lr=0.1, momentum=0.9, nesterov=True
        ),
        "decay": torch_optim.SGD(
            parameters, lr=0.1, momentum=0.5, weight_decay=0.1
        ),
        "adam": torch_optim.Adam(parameters, lr=0.01),
        "adam_decay": torch_optim.Adam(parameters, lr=0.01, weight_decay=0.1),
        "adamw": torch_optim.AdamW(parameters, lr=0.01, weight_decay=0.1),
        "rmsprop": torch_optim.RMSprop(parameters, lr=0.01),
        "rmsprop_momentum": torch_optim.RMSprop(
            parameters, lr=0.01, momentum=0.9
        ),
    }


@pytest.mark.parametrize("accumulation", [1, 2])
@pytest.mark.parametrize(
    "name", list(_optimizers([torch.nn.Parameter(torch.ones(1))]))
)
def test_optimizersEqualPyTorchs(name, accumulation):
    torch.manual_seed(0)
    model = Small()
    reference = copy.deepcopy(model)
    x, labels = smallData(BATCH * 20)
    expected = trainWithTorch(
        reference,
        _optimizers(reference.parameters())[name],
        x,
        labels,
        BATCH,
        accumulation,
    )
    trainer = poptorch.trainingModel(
        model,
        options(oneIpu(), 20 // accumulation, accumulation),
        _optimizers(model.parameters())[name],
    )
    _, losses = trainer(x, labels)
    torch.testing.assert_close(losses, expected, rtol=1e-5, atol=1e-6)


def test_groupsHaveTheirOwnLearningRates():
    torch.manual_seed(0)
    model = Small()
    reference = copy.deepcopy(model)

    def optimizer(cls, m):
        return cls(
            [
                {"params": m.a.parameters()},
                {"params": m.b.parameters(), "lr": 0.01},
            ],
            lr=0.2,
        )

    x, labels = smallData(BATCH * 8)
    expected = trainWithTorch(
        reference, optimizer(torch.optim.SGD, reference), x, labels, BATCH, 1
    )
    trainer = poptorch.trainingModel(
        model, options(oneIpu(), 8), optimizer(poptorch.optim.SGD, model)
    )
    torch.testing.assert_close(
        trainer(x, labels)[1], expected, rtol=1e-5, atol=1e-6
    )


def test_setOptimizerChangesTheLearningRateAndKeepsMomentum():
    torch.manual_seed(0)
    model = Small()
    reference = copy.deepcopy(model)
    x, labels = smallData(BATCH * 6)
    torch_optimizer = torch.optim.SGD(
        reference.parameters(), lr=0.1, momentum=0.9
    )
    optimizer = poptorch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    trainer = poptorch.trainingModel(model, options(oneIpu()), optimizer)
    for i in range(6):
        rows = slice(i * BATCH, (i + 1) * BATCH)
        if i == 3:
            torch_optimizer.param_groups[0]["lr"] = 0.001
            optimizer.param_groups[0]["lr"] = 0.001
            trainer.setOptimizer(optimizer)
        expected = trainWithTorch(
            reference, torch_optimizer, x[rows], labels[rows], BATCH, 1
        )
        loss = trainer(x[rows], labels[rows])[1]
        torch.testing.assert_close(loss, expected[0], rtol=1e-5, atol=1e-6)


def test_constantAttributeCannotChange():
    model = Small()
    optimizer = poptorch.optim.SGD(model.parameters(), lr=0.1)
    trainer = poptorch.trainingModel(model, options(oneIpu()), optimizer)
    x, labels = smallData(BATCH)
    trainer(x, labels)
    optimizer.param_groups[0]["weight_decay"] = 0.5
    with pytest.raises(poptorch.Error):
        trainer.setOptimizer(optimizer)


def test_frozenParametersStayAsTheyAre():
    torch.manual_seed(0)
    model = Small()
    model.a.weight.requires_grad_(False)
    before = model.a.weight.clone()
    bias = model.a.bias.detach().clone()
    trainer = poptorch.trainingModel(model, options(oneIpu()))
    trainer(*smallData(BATCH))
    assert torch.equal(model.a.weight, before)
    assert not torch.equal(model.a.bias, bias)


def test_noGradStopsGradients():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Linear(4, 4)
            self.b = torch.nn.Linear(4, 3)

        def forward(self, x, labels):
            with torch.no_grad():
                x = self.a(x)
            x = self.b(x)
            return torch.nn.functional.cross_entropy(x, labels)

    model = Model()
    before = copy.deepcopy(model.state_dict())
    trainer = poptorch.trainingModel(model, options(oneIpu()))
    trainer(*smallData(BATCH))
    after = model.state_dict()
    assert torch.equal(after["a.weight"], before["a.weight"])
    assert not torch.equal(after["b.weight"], before["b.weight"])


def test_identityLossOfAnUnreducedTensorIsSummed():
    class Model(torch.nn.Module):
        def __init__(self, reduction):
            super().__init__()
            self.w = torch.nn.Parameter(torch.ones(3))
            self.reduction = reduction

        def forward(self, x):
            return poptorch.identity_loss(x * self.w, self.reduction)

    x = torch.tensor([1.0, 2.0, 3.0])
    for reduction, factor in (("none", 1), ("sum", 1), ("mean", 1 / 3)):
        model = Model(reduction)
        trainer = poptorch.trainingModel(
            model,
            options(oneIpu()),
            poptorch.optim.SGD(model.parameters(), lr=0.5),
        )
        trainer(x)
        torch.testing.assert_close(
            model.w.detach(), 1 - 0.5 * factor * x, rtol=1e-5, atol=1e-6
        )


def test_lossesThatFeedTheLossAreDemoted():
    class Model(Small):
        def forward(self, x, labels):
            x, loss = super().forward(x, labels)
            both = loss + torch.nn.functional.mse_loss(x, x * 0)
            return poptorch.identity_loss(both, "none")

    torch.manual_seed(0)
    model = Model()
    x, labels = smallData(BATCH)
    expected = model(x, labels).item()
    trainer = poptorch.trainingModel(model, options(oneIpu()))
    assert trainer(x, labels).item() == pytest.approx(expected, rel=1e-5)


def test_reductionSumAddsGradients():
    torch.manual_seed(0)
    model = Small()
    reference = copy.deepcopy(model)
    x, labels = smallData(BATCH * 3)
    for i in range(3):
        rows = slice(i * BATCH, (i + 1) * BATCH)
        reference(x[rows], labels[rows])[1].backward()
    torch.optim.SGD(reference.parameters(), lr=0.1).step()
    opts = options(oneIpu(), 1, 3)
    opts.Training.accumulationAndReplicationReductionType(
        poptorch.ReductionType.Sum
    )
    trainer = poptorch.trainingModel(
        model, opts, torch.optim.SGD(model.parameters(), lr=0.1)
    )
    trainer(x, labels)
    torch.testing.assert_close(
        model.b.weight.detach(), reference.b.weight.detach(),
        rtol=1e-5, atol=1e-6,
    )  # fmt: skip


ALL_OPTIMIZERS = [
    (poptorch.optim.SGD, {"lr": 0.1}),
    (poptorch.optim.SGD,
     {"lr": 0.1, "momentum": 0.9, "use_combined_accum": True}),
    (poptorch.optim.SGD, {"lr": 0.1, "max_grad_norm": 0.1}),
    (poptorch.optim.Adam, {"lr": 0.1}),
    (poptorch.optim.AdamW, {"lr": 0.1, "weight_decay": 0.1}),
    (poptorch.optim.RMSprop, {"lr": 0.1}),
    (poptorch.optim.LAMB, {"lr": 0.1}),
    (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1}),
    (torch.optim.Adam, {"lr": 0.1}),
]  # fmt: skip


@pytest.mark.parametrize("optimizer, values", ALL_OPTIMIZERS)
@pytest.mark.parametrize("accumulation", [1, 2])
@pytest.mark.parametrize("hasGroups", [False, True])
def test_parametersWithoutAnOptimizerStay(
    optimizer, values, accumulation, hasGroups
):
    torch.manual_seed(0)
    model = Small()
    given = [model.b.weight, model.b.bias]
    if hasGroups:
        given = [{"params": given[:1], "lr": 0.05}, {"params": given[1:]}]
    trainer = poptorch.trainingModel(
        model, options(oneIpu(), accumulation=accumulation),
        optimizer(given, **values),
    )  # fmt: skip
    before = {n: p.detach().clone() for n, p in model.named_parameters()}
    for seed in range(2):
        trainer(*smallData(4 * accumulation, seed))
    for name, parameter in model.named_parameters():
        is_same = torch.equal(parameter.detach(), before[name])
        assert is_same == name.startswith("a."), name


@pytest.mark.parametrize("norm", [float("inf"), 0.05])
def test_othersDoNotCountForTheNormThatIsClipped(norm):
    torch.manual_seed(0)
    model = Small()
    reference = copy.deepcopy(model)
    x, labels = smallData(8)
    expected = torch.optim.SGD(reference.b.parameters(), lr=0.5)
    trainer = poptorch.trainingModel(
        model,
        options(oneIpu()),
        poptorch.optim.SGD(model.b.parameters(), lr=0.5, max_grad_norm=norm),
    )
    for _ in range(3):
        expected.zero_grad()
        reference(x, labels)[1].backward()
        torch.nn.utils.clip_grad_norm_(reference.b.parameters(), norm)
        expected.step()
        trainer(x, labels)
    for name, parameter in reference.named_parameters():
        torch.testing.assert_close(
            model.state_dict()[name], parameter.detach(), rtol=1e-5, atol=1e-6
        )


def test_setOptimizerWithOtherParametersIsAnError():
    model = Small()
    trainer = poptorch.trainingModel(
        model, options(oneIpu()), torch.optim.SGD(model.b.parameters(), lr=0.1)
    )
    x, labels = smallData(4)
    trainer(x, labels)
    for given in (model.parameters(), [model.b.bias]):
        with pytest.raises(poptorch.Error, match="train other parameters.*b."):
            trainer.setOptimizer(torch.optim.SGD(given, lr=0.1))
    trainer.setOptimizer(torch.optim.SGD(model.b.parameters(), lr=0.0))
    before = model.b.bias.detach().clone()
    trainer(x, labels)
    assert torch.equal(model.b.bias.detach(), before)
    trainer.destroy()
    trainer = poptorch.trainingModel(
        model, options(oneIpu()), torch.optim.SGD([model.a.bias], lr=0.1)
    )
    before = model.state_dict()
    before = {n: t.clone() for n, t in before.items()}
    trainer(x, labels)
    changed = [
        n for n, t in model.state_dict().items() if not torch.equal(t, before[n])
    ]
    assert changed == ["a.bias"]
