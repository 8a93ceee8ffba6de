# Whole runs of training, five networks with five optimisers, against PyTorch's
# in float32 and float64. FULL_TRAINING=1 runs all 200 steps of each.
import copy
import os
from pathlib import Path

import pytest
import torch

import poptorch
from agreement_networks import CASES, OPTIMIZERS

IS_FULL = os.environ.get("FULL_TRAINING") == "1"
CLOSE_STEPS = 20
ALL_STEPS = 200
STEPS = ALL_STEPS if IS_FULL else CLOSE_STEPS
ITERATIONS = 10  # steps in a call
CLOSE = 1e-5  # relative, over the first steps
FLOOR = 1e-4  # of what counts as a distance from the float64 run


def trainWithTorch(model, optimizer, x, labels, case):
    """The loss of each step: the mean of its micro-batches'."""
    losses = []
    for micro_batches in zip(
        x.split(case.batch * case.accumulation),
        labels.split(case.batch * case.accumulation),
    ):
        optimizer.zero_grad()
        total = 0.0
        for rows in zip(*(t.split(case.batch) for t in micro_batches)):
            loss = model(*rows) / case.accumulation
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    return torch.tensor(losses, dtype=torch.float64)


def trainWithPopTorch(model, optimizer, x, labels, case):
    options = poptorch.Options().deviceIterations(ITERATIONS)
    options.Training.gradientAccumulation(case.accumulation)
    options.outputMode(poptorch.OutputMode.All)
    options.showCompilationProgressBar(False)
    trainer = poptorch.trainingModel(model, options, optimizer)
    rows = case.batch * case.accumulation * ITERATIONS
    losses = torch.cat(
        [trainer(*part) for part in zip(x.split(rows), labels.split(rows))]
    )
    trainer.destroy()
    return losses.double().view(-1, case.accumulation).mean(dim=1)


def furthest(losses, expected):
    return ((losses - expected).abs() / expected.abs()).max().item()


@pytest.fixture(scope="module")
def table():
    """Rows for the summary of the test run, which names the folder."""
    rows = []
    yield rows
    if folder := os.environ.get("TEST_TABLES"):
        head = (f"{'network':<14} {'optimiser':<9} {'loss':>13} "
                f"{'20 steps':>9} {'PyTorch':>9} {'PopTorch':>9}")  # fmt: skip
        Path(folder, "training.txt").write_text("\n".join([
            f"Largest relative differences of losses: over {CLOSE_STEPS} steps "
            f"from PyTorch's,\nover {STEPS} steps PyTorch's own and PopTorch's "
            "from a float64 run's", head, *rows]) + "\n")  # fmt: skip


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("network", CASES)
def test_lossesStayWithPyTorchs(network, optimizer, table):
    case = CASES[network]
    ours, theirs, settings = OPTIMIZERS[optimizer]
    settings = {**settings, "lr": settings["lr"] * case.rate}
    torch.manual_seed(0)
    model = case.network()
    rows = case.batch * case.accumulation
    data = case.data(rows * ALL_STEPS, torch.Generator().manual_seed(1))
    x, labels = (t[: rows * STEPS] for t in data)

    def reference(dtype):
        copied = copy.deepcopy(model).to(dtype)
        inputs = x.to(dtype) if x.is_floating_point() else x
        return trainWithTorch(
            copied, theirs(copied.parameters(), **settings), inputs, labels,
            case,
        )  # fmt: skip

    single, exact = reference(torch.float32), reference(torch.float64)
    losses = trainWithPopTorch(
        model, ours(model.parameters(), **settings), x, labels, case
    )
    # To PyTorch or, where it has lost digits of its own, to the float64 run.
    close = min(
        furthest(losses[:CLOSE_STEPS], run[:CLOSE_STEPS])
        for run in (single, exact)
    )
    own, distance = furthest(single, exact), furthest(losses, exact)
    table.append(
        f"{network:<14} {optimizer:<9} {losses[0]:5.2f} to {losses[-1]:4.2f} "
        f"{close:9.1e} {own:9.1e} {distance:9.1e}"
    )
    assert exact[-5:].mean() < exact[:5].mean()  # it learns at all
    assert close < CLOSE
    assert distance <= max(2 * own, FLOOR)
