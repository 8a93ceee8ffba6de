# recomputationCheckpoint(): activations that a pipeline keeps.
import torch
import torch.nn.functional as F
from torch import nn

import poptorch


class Pipelined(nn.Module):
    """Three layers in the first stage, one in the second."""

    def __init__(self, keeps):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(4))
        self.keeps = keeps

    def forward(self, x, target):
        with poptorch.Block("first", ipu_id=0):
            for i, layer in enumerate(self.layers[:3]):
                x = torch.tanh(layer(x))
                if i in self.keeps:
                    x = poptorch.recomputationCheckpoint(x)
        with poptorch.Block("second", ipu_id=1):
            return F.mse_loss(self.layers[3](x), target)


def train(keeps):
    """The losses of three updates, and how often the program has a tanh."""
    torch.manual_seed(0)
    options = poptorch.Options().showCompilationProgressBar(False)
    options.Training.gradientAccumulation(4)
    options.outputMode(poptorch.OutputMode.All)
    model = poptorch.trainingModel(Pipelined(keeps), options)
    x, target = torch.randn(8, 4), torch.randn(8, 4)
    losses = torch.cat([model(x, target) for _ in range(3)])
    program = model._executable.printIr(machine=True)
    return losses, program.count(" = ai.onnx.Tanh(")


def test_whatIsKeptIsNotComputedAgain():
    losses, everything = train(keeps=())
    kept, some = train(keeps=(0, 2))
    all_kept, none = train(keeps=(0, 1, 2))
    assert torch.equal(losses, kept) and torch.equal(losses, all_kept)
    assert (everything, some, none) == (6, 4, 3)
