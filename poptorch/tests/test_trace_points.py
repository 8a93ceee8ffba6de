# Trace points for the system analyser, seen by a library in its place.
import contextlib
import sys
import types

import pytest
import torch

import poptorch
from models import Small, smallData


@pytest.fixture
def seen(monkeypatch):
    """(channel, name) of every trace point that was entered."""
    points = []

    @contextlib.contextmanager
    def enter(channel, name):
        points.append((channel, name))
        yield

    library = types.ModuleType("libpvti")
    library.createTraceChannel = lambda name: name
    library.Tracepoint = enter
    monkeypatch.setitem(sys.modules, "libpvti", library)
    monkeypatch.setenv("PVTI_OPTIONS", '{"enable":"true"}')
    return points


def options():
    return poptorch.Options().showCompilationProgressBar(False)


def test_lifeOfATrainingWrapperIsTraced(seen, tmp_path):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    trainer = poptorch.trainingModel(model, options(), optimizer)
    trainer.compile(*smallData(4))
    trainer(*smallData(4))
    trainer.setOptimizer(optimizer)
    trainer.save(tmp_path / "model.poptorch", export_model=False)
    trainer.destroy()
    names = [name for channel, name in seen]
    assert {channel for channel, _ in seen} == {"poptorch.trainingModel"}
    assert names == [
        "compile", "graphPreprocessing", "modelCompilation",
        "copyWeightsToDevice", "modelExecution", "setOptimizer",
        "copyWeightsToHost", "saveExecutableToFile", "destroy",
    ]  # fmt: skip


def test_filesAreTraced(seen, tmp_path):
    x, _ = smallData(4)
    file = tmp_path / "model.poptorch"
    poptorch.inferenceModel(Small(), options()).compileAndExport(file, x)
    assert ("poptorch.inferenceModel", "compileAndExport") in seen
    seen.clear()
    poptorch.inferenceModel(Small(), options()).loadExecutable(file)
    assert ("poptorch.inferenceModel", "loadExecutable") in seen


def test_nothingIsTracedUnlessAskedFor(seen, monkeypatch):
    monkeypatch.delenv("PVTI_OPTIONS")
    poptorch.inferenceModel(Small(), options())(smallData(4)[0])
    assert seen == []
