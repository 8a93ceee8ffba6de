# Cycles of the model and the host's clock.
import re

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


MODE = poptorch.OutputMode


@pytest.mark.parametrize(
    "mode, period, steps, accumulation, replicas, given, returned",
    [
        (MODE.Final, None, 4, 1, 1, 4, 1),
        (MODE.Sum, None, 4, 1, 2, 8, 2),
        (MODE.All, None, 4, 1, 2, 8, 8),
        (MODE.EveryN, 2, 4, 1, 1, 4, 2),
        (MODE.Final, None, 2, 3, 2, 12, 2),
        (MODE.All, None, 2, 3, 1, 6, 6),
        (MODE.EveryN, 2, 2, 2, 1, 4, 2),
        (MODE.EveryN, 2, 4, 3, 2, 24, 12),
    ],
)
def test_countersByOutputMode(
    mode, period, steps, accumulation, replicas, given, returned
):
    options = poptorch.Options().showCompilationProgressBar(False)
    options.deviceIterations(steps).replicationFactor(replicas)
    options.outputMode(mode, period)
    options.Training.gradientAccumulation(accumulation)
    data = smallData(2 * given)
    if accumulation == 1:
        model = poptorch.inferenceModel(Small().eval(), options)
        data = data[:1]
        outputs = 1
    else:
        model = poptorch.trainingModel(Small(), options)
        outputs = 2
    model(*data)
    counters = model.getPerfCounters()
    for event in ("input", "input_complete"):
        assert [len(times) for times in counters[event]] == [given] * len(data)
    for event in ("output", "output_complete"):
        assert [len(times) for times in counters[event]] == [returned] * outputs


def test_syntheticDataIsNotTransferred():
    cycles = {}
    for isSynthetic in (False, True):
        options = poptorch.Options().showCompilationProgressBar(False)
        options.logCycleCount(True).enableSyntheticData(isSynthetic)
        model = poptorch.inferenceModel(Small().eval(), options)
        model(smallData(64)[0])
        cycles[isSynthetic] = model.cycleCount()
        counters = model.getPerfCounters()
        (exchange,) = re.findall(
            r"host exchange cycles: +([\d.,]+)", model.getProfileSummary())
        if isSynthetic:
            assert all(times == [[]] for times in counters.values())
            assert model.getLatency() == (0.0, 0.0, 0.0)
        assert (exchange == "0.0") == isSynthetic
    assert 0 < cycles[True] < cycles[False]
