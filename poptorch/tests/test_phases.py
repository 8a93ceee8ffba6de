# Phased execution: phases one after the other, values as without.
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import poptorch


class Layers(nn.Module):
    """Four layers, a block each."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(6, 6) for _ in range(4))

    def forward(self, x, target):
        for i, layer in enumerate(self.layers):
            poptorch.Block.start(f"b{i}")
            x = torch.tanh(layer(x))
        return x, F.mse_loss(x, target)


class Wide(nn.Module):
    """Two phases, each with two layers side by side."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(6, 6) for _ in range(4))

    def forward(self, x, target):
        a, b, c, d = self.layers
        with poptorch.Block("b0"):
            y = torch.tanh(a(x))
        with poptorch.Block("b1"):
            z = torch.tanh(b(x))
        with poptorch.Block("b2"):
            y = torch.tanh(c(y + z))
        with poptorch.Block("b3"):
            z = torch.tanh(d(y - z))
            return z, F.mse_loss(z, target)


def serial():
    return poptorch.SerialPhasedExecution(["b0"], ["b1"], ["b2"], ["b3"])


def parallel():
    return poptorch.ParallelPhasedExecution("b0", "b1", "b2", "b3")


def live(liveness):
    return serial().setTensorsLiveness(liveness)


STRATEGIES = {
    "serial": serial,
    "separate": lambda: serial().useSeparateBackwardPhase(),
    "off chip": lambda: live(poptorch.Liveness.OffChipAfterFwd),
    "no overlap": lambda: live(poptorch.Liveness.OffChipAfterFwdNoOverlap),
    "each": lambda: live(poptorch.Liveness.OffChipAfterEachPhase),
    "parallel": parallel,
    "sent": lambda: parallel().sendTensorsOffChipAfterFwd(),
}


def checkTraining(model, strategy, ipus, accumulation=1):
    torch.manual_seed(0)
    options = poptorch.Options().showCompilationProgressBar(False)
    options.setExecutionStrategy(strategy)
    options.Training.gradientAccumulation(accumulation)
    options.outputMode(poptorch.OutputMode.All)
    plain = type(model)()
    plain.load_state_dict(model.state_dict())
    trainer = poptorch.trainingModel(
        model, options, torch.optim.SGD(model.parameters(), lr=0.1)
    )
    optimizer = torch.optim.SGD(plain.parameters(), lr=0.1)
    for _ in range(3):
        x, target = torch.randn(8, 6), torch.randn(8, 6)
        output, loss = trainer(x, target)
        optimizer.zero_grad()
        expected, expected_loss = plain(x, target)
        expected_loss.backward()
        optimizer.step()
        torch.testing.assert_close(output, expected.detach())
        torch.testing.assert_close(loss.mean(), expected_loss.detach())
    for a, b in zip(model.parameters(), plain.parameters()):
        torch.testing.assert_close(a, b)
    assert trainer._executable.ipuCount() == ipus


@pytest.mark.parametrize("name", STRATEGIES)
def test_trainingIsTheSame(name):
    strategy = STRATEGIES[name]()
    is_serial = isinstance(strategy, poptorch.SerialPhasedExecution)
    checkTraining(Layers(), strategy, 1 if is_serial else 2, accumulation=2)


def test_phasesOfSeveralIpus():
    phases = (
        poptorch.Phase(poptorch.Stage("b0"), poptorch.Stage("b1")),
        poptorch.Phase(poptorch.Stage("b2"), poptorch.Stage("b3")),
    )
    checkTraining(Wide(), poptorch.SerialPhasedExecution(*phases), 2)
    strategy = poptorch.ParallelPhasedExecution(*phases)
    strategy.phase(0).ipus(0, 2)
    strategy.phase(1).ipus(1, 3)
    checkTraining(Wide(), strategy, 4)


def test_weightsWaitInStreamingMemory():
    def loads(options):
        options.showCompilationProgressBar(False)
        options.setExecutionStrategy(serial())
        model = poptorch.trainingModel(Layers(), options)
        model.compile(torch.ones(8, 6), torch.ones(8, 6))
        program = model._executable.printIr(machine=True)
        return 'buffer="layers.0.weight"' in program

    options = poptorch.Options()
    options.TensorLocations.setWeightLocation(
        poptorch.TensorLocationSettings().useOnChipStorage(True)
    )
    assert loads(poptorch.Options())
    assert not loads(options)


def test_wrongPhasesAreNamed():
    with pytest.raises(AssertionError, match="no AutoStage for PhasedExecution"):
        poptorch.SerialPhasedExecution()
    with pytest.raises(AssertionError, match="Phase contains 2 stages but you "
                       "provided 1 ipus"):
        poptorch.Phase(poptorch.Stage("a"), poptorch.Stage("b")).ipus(0)
    with pytest.raises(AssertionError, match="associated with more than one"):
        poptorch.SerialPhasedExecution(["a"], ["a"])
    with pytest.raises(AssertionError, match="Unknown block x"):
        serial().stage("x")
    strategy = parallel()
    strategy.phase(1).ipus(0)
    options = poptorch.Options().showCompilationProgressBar(False)
    options.setExecutionStrategy(strategy)
    with pytest.raises(AssertionError, match="When phases are executed in par"):
        poptorch.trainingModel(Layers(), options)(
            torch.ones(2, 6), torch.ones(2, 6)
        )
