"""Looking inside a model while it runs on the IPU.

What forward() returns comes to the host; everything else stays on the IPU
unless it is asked for. This program lists the names of a compiled model's
tensors, anchors some of them to read gradients and weights after each call,
prints a tensor from the middle of forward(), and shows what the output modes
make of a call's many losses.
"""

import argparse
from pathlib import Path

import poptorch
import torch
from torch import nn

ITERATIONS = 20
BATCH = 8


class Network(nn.Module):
    def __init__(self, is_printing=False):
        super().__init__()
        self.first = nn.Linear(16, 32)
        self.second = nn.Linear(32, 4)
        self.loss = nn.NLLLoss()
        self.is_printing = is_printing

    def forward(self, x, labels):
        x = torch.relu(self.first(x))
        if self.is_printing:
            # Prints when the IPU gets there; its result must be used.
            x = poptorch.ipu_print_tensor(x, "hidden", summarise_threshold=20,
                                          edge_items=2)
        scores = torch.log_softmax(self.second(x), dim=1)
        return self.loss(scores, labels)


def data(steps: int):
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(steps * BATCH, 16, generator=generator)
    return x, x[:, :4].argmax(dim=1)


def training_model(options, is_printing=False):
    torch.manual_seed(0)
    network = Network(is_printing)
    optimizer = poptorch.optim.SGD(network.parameters(), lr=0.5)
    return poptorch.trainingModel(network, options, optimizer)


def list_names():
    """Names come from the model's parameters: a gradient's has a prefix."""
    model = training_model(poptorch.Options())
    model.compile(torch.zeros(BATCH, 16), torch.zeros(BATCH, dtype=torch.long))
    names = [n for n in model.getTensorNames() if "first.weight" in n]
    print("Tensors of first.weight:", ", ".join(sorted(names)))
    model.destroy()


def watch_gradients(file: Path):
    """The gradient and the weight of each step, and their lengths over time."""
    options = poptorch.Options().deviceIterations(ITERATIONS)
    all_steps = poptorch.OutputMode.All
    options.outputMode(all_steps)
    options.anchorTensor("gradient", "Gradient___first.weight", all_steps)
    options.anchorTensor("weight", "first.weight", all_steps)
    model = training_model(options)
    losses = model(*data(ITERATIONS))
    gradients = model.getAnchoredTensor("gradient").view(ITERATIONS, 32, 16)
    weights = model.getAnchoredTensor("weight").view(ITERATIONS, 32, 16)
    lines = ["step,loss,gradient,weight"] + [
        f"{i},{losses[i]:.6f},{gradients[i].norm():.6f},{weights[i].norm():.6f}"
        for i in range(ITERATIONS)
    ]
    file.write_text("\n".join(lines) + "\n")
    print(f"Length of the gradient: {gradients[0].norm():.4f} at first, "
          f"{gradients[-1].norm():.4f} at last; all steps are in {file}")
    model.destroy()


def compare_output_modes():
    """Of the losses of a call: the last, their sum, every tenth, all."""
    modes = {"Final": (), "Sum": (), "EveryN": (10,), "All": ()}
    for name, period in modes.items():
        options = poptorch.Options().deviceIterations(ITERATIONS)
        options.outputMode(poptorch.OutputMode[name], *period)
        model = training_model(options)
        loss = model(*data(ITERATIONS))
        print(f"OutputMode.{name}: {loss.numel()} value(s), sum "
              f"{loss.sum():.4f}")
        model.destroy()


def print_from_the_ipu():
    """To the error stream: the tensor, and its gradient on the way back."""
    model = training_model(poptorch.Options(), is_printing=True)
    model(*data(1))
    model.destroy()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("gradients.csv"))
    arguments = parser.parse_args()
    list_names()
    watch_gradients(arguments.output)
    compare_output_modes()
    print_from_the_ipu()


if __name__ == "__main__":
    main()
