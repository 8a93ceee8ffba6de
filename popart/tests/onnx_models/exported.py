"""Exports a network with PyTorch, and runs and trains it with PopART."""

import io
import warnings

import numpy as np
import popart
import torch

from .networks import Network


def export(model: torch.nn.Module, inputs: tuple, opset: int) -> bytes:
    """As ONNX, in the mode that the model is in."""
    mode = (torch.onnx.TrainingMode.TRAINING if model.training
            else torch.onnx.TrainingMode.EVAL)
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, inputs, file, opset_version=opset,
                          training=mode,
                          do_constant_folding=not model.training,
                          input_names=names_of(inputs),
                          output_names=["scores"])
    return file.getvalue()


class LogProbabilities(torch.nn.Module):
    """What a loss is made from."""

    def __init__(self, model: torch.nn.Module):
        super().__init__()
        self.model = model

    def forward(self, *inputs):
        return self.model(*inputs).log_softmax(1)


def names_of(inputs: tuple) -> list[str]:
    return [f"input{i}" for i in range(len(inputs))]


def feeds_of(inputs: tuple) -> dict[str, np.ndarray]:
    return {name: array.numpy() for name, array in
            zip(names_of(inputs), inputs)}


def infer(network: Network) -> tuple[np.ndarray, np.ndarray]:
    """The scores that PopART finds, and those that PyTorch does."""
    model = network.model().eval()
    inputs, _ = network.batch()
    with torch.no_grad():
        expected = model(*inputs).numpy()
    session = popart.InferenceSession(
        export(model, inputs, network.opset),
        popart.DataFlow(1, ["scores"]),
        popart.DeviceManager().createCpuDevice())
    session.prepareDevice()
    anchors = session.initAnchorArrays()
    session.run(popart.PyStepIO(feeds_of(inputs), anchors))
    return anchors["scores"], expected


def popart_losses(network: Network, steps: int, seed: int) -> list[float]:
    inputs, labels = network.batch(seed)
    builder = popart.Builder(
        export(LogProbabilities(network.model()).train(), inputs,
               network.opset))
    classes = builder.addInputTensor("INT32", list(labels.shape))
    loss = builder.aiGraphcore.nllloss(["scores", classes],
                                       inputIsLogProbability=True)
    session = popart.TrainingSession(
        builder.getModelProto(), popart.DataFlow(1, [loss]), loss,
        popart.SGD({"defaultLearningRate": (network.rate, False)}),
        popart.DeviceManager().createCpuDevice())
    session.prepareDevice()
    session.weightsFromHost()
    feeds = {**feeds_of(inputs), classes: labels.numpy().astype(np.int32)}
    losses = []
    for _ in range(steps):
        anchors = session.initAnchorArrays()
        session.run(popart.PyStepIO(feeds, anchors))
        losses.append(float(anchors[loss]))
    return losses


def torch_losses(network: Network, steps: int, seed: int) -> list[float]:
    model = network.model().train()
    optimizer = torch.optim.SGD(model.parameters(), lr=network.rate)
    inputs, labels = network.batch(seed)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(*inputs), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
