# Cycles of the model and the host's clock.
import pytest
import torch

import poptorch
from models import Small, smallData


def executor(**changes):
    options = poptorch.Options().showCompilationProgressBar(False)
    options.deviceIterations(3)
    if changes.get("counts"):
        options.logCycleCount(True)
    return poptorch.inferenceModel(Small().eval(), options)


def test_cyclesAreCountedWhenAskedFor():
    x, _ = smallData(6)
    model = executor(counts=True)
    with pytest.raises(poptorch.Error, match="not been compiled"):
        model.cycleCount()
    model.compile(x)
    with pytest.raises(poptorch.Error, match="Please run the model at least"):
        model.cycleCount()
    model(x)
    first = model.cycleCount()
    model(x)
    assert first > 0 and model.cycleCount() == first
    silent = executor()
    silent(x)
    with pytest.raises(poptorch.Error, match="Cycle count logging is disab"):
        silent.cycleCount()


def test_latenciesAddUp():
    x, _ = smallData(6)
    model = executor()
    assert model.getPerfCounters()["input"] == [[]]
    assert model.getLatency() == (0.0, 0.0, 0.0)
    model(x)
    parts = [
        model.getHostIpuLatency(),
        model.getComputeLatency(),
        model.getIpuHostLatency(),
    ]
    total = model.getLatency()
    assert total[0] > 0
    assert sum(p[2] for p in parts) == pytest.approx(total[2])
    counters = model.getPerfCounters()
    assert [len(t) for t in counters["input"]] == [3]
    assert [len(t) for t in counters["output_complete"]] == [3]
    for earlier, later in (
        ("input", "input_complete"),
        ("input_complete", "output"),
        ("output", "output_complete"),
    ):
        assert counters[earlier][0][0] <= counters[later][0][0]
