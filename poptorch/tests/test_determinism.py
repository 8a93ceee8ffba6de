# The same bits at any thread count, for results and for trained weights.
import pytest
import torch

import poptorch
from models import Classifier, classifierData


def train(monkeypatch, threads, batch):
    monkeypatch.setenv("ASPEN_THREADS", str(threads))
    torch.manual_seed(0)
    model = Classifier()
    options = poptorch.Options().deviceIterations(3)
    options.Training.gradientAccumulation(4)
    options.outputMode(poptorch.OutputMode.All)
    options.showCompilationProgressBar(False)
    optimizer = poptorch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    trainer = poptorch.trainingModel(model, options, optimizer)
    x, labels = classifierData(4 * 12 * batch)
    results = []
    for start in range(0, x.shape[0], 12 * batch):
        rows = slice(start, start + 12 * batch)
        results += trainer(x[rows], labels[rows])
    results += model.state_dict().values()
    trainer.destroy()
    return [result.clone() for result in results]


@pytest.mark.parametrize("batch", [5, 16, 40])
def test_threadsDoNotChangeBits(monkeypatch, batch):
    alone = train(monkeypatch, 1, batch)
    for threads in (2, 3):
        others = train(monkeypatch, threads, batch)
        assert len(others) == len(alone)
        for expected, result in zip(alone, others):
            assert torch.equal(expected, result)
