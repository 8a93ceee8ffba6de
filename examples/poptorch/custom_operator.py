"""An operator of one's own in C++, used in a PyTorch model on the IPU.

The operator is that of PopART's example, y = x * sigmoid(beta * x):

    g++ -std=c++14 -fPIC -shared examples/popart/custom_operator/swish.cpp \\
        -lpopart -lpopops -lpoplar -o libswish.so
    python3 examples/poptorch/custom_operator.py [libswish.so]

A small network is trained with it, its gradient included, and then compared
with the same network made of PyTorch's own operations on the CPU.
"""

import argparse
from pathlib import Path

import poptorch
import torch
from torch import nn

BETA = 1.5


class Swish(nn.Module):
    """On the IPU the operator; elsewhere what it stands for."""

    def forward(self, x):
        if not poptorch.isRunningOnIpu():
            return x * torch.sigmoid(BETA * x)
        # The examples of outputs say of what shape and type the results are.
        (y,) = poptorch.custom_op(
            [x], "Swish", "examples", 1, example_outputs=[x],
            attributes={"beta": BETA})
        return y


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(1, 16), Swish(),
                                    nn.Linear(16, 1))
        self.loss = nn.MSELoss()

    def forward(self, x, wanted=None):
        y = self.layers(x)
        return y if wanted is None else self.loss(y, wanted)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", nargs="?", type=Path,
                        default=Path("libswish.so"))
    arguments = parser.parse_args()
    torch.ops.load_library(str(arguments.library.resolve()))
    torch.manual_seed(0)
    network = Network()
    x = torch.linspace(-3, 3, 64).unsqueeze(1)
    options = poptorch.Options()
    model = poptorch.trainingModel(
        network, options, poptorch.optim.Adam(network.parameters(), lr=0.02))
    losses = [model(x, torch.sin(x)).item() for _ in range(300)]
    print(f"loss {losses[0]:.4f} at first, {losses[-1]:.4f} at last")
    model.detachFromDevice()

    on_ipu = poptorch.inferenceModel(network.eval(), options)(x)
    with torch.no_grad():
        on_cpu = network(x)
    print(f"IPU and CPU differ by {(on_ipu - on_cpu).abs().max():.1e}")


if __name__ == "__main__":
    main()
