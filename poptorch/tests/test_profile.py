# The cost summary of one- and two-stage programs.
import re

import torch

import poptorch
from models import Classifier, classifierData


def summary(strategy):
    torch.manual_seed(0)
    model = Classifier()
    options = poptorch.Options()
    options.Training.gradientAccumulation(8)
    options.setExecutionStrategy(strategy)
    options.showCompilationProgressBar(False)
    optimizer = poptorch.optim.SGD(model.parameters(), lr=0.05)
    trainer = poptorch.trainingModel(model, options, optimizer)
    trainer(*classifierData(16 * 8))
    return trainer.getProfileSummary()


def cycles(text, label):
    return float(
        re.search(rf"{label} cycles[^:]*:\s+([\d,.]+)", text)[1].replace(",", "")
    )


def test_oneStageShowsCyclesExchangeSyncAndMemory():
    text = summary(
        poptorch.ShardedExecution(poptorch.Stage("first", "second").ipu(0))
    )
    assert re.search(r"Number of IPUs:\s+1\n", text)
    total = cycles(text, "Total")
    compute = cycles(text, "average compute")
    parts = [compute] + [
        cycles(text, f"average {what}")
        for what in ("IPU exchange", "host exchange", "sync")
    ]
    assert all(part > 0 for part in parts)
    assert sum(parts) <= total
    assert cycles(text, "average global exchange") == 0
    assert re.search(r"Maximum \(Including Gaps\): [\d,]+ .* on tile \d+", text)


def test_twoStagesKeepBothIpusBusy():
    text = summary(
        poptorch.PipelinedExecution(poptorch.AutoStage.SameAsIpu)
    )
    assert re.search(r"Number of IPUs:\s+2\n", text)
    assert cycles(text, "average global exchange") > 0
    table = text[text.index("By IPU:") :]
    busy = re.findall(r"^\s+(\d)\s+([\d,]+)\s+\(([\d.]+)%\)", table, re.M)
    assert [ipu for ipu, _, _ in busy] == ["0", "1"]
    shares = [float(share) for _, _, share in busy]
    assert all(share > 10 for share in shares)
    # More than one IPU's worth of work per cycle: the stages overlap.
    assert sum(shares) > 100
