"""What tests of models need: inputs, runs, and gradients by PyTorch."""
import numpy as np
import popart
import torch

RANDOM = np.random.default_rng(11)


def floats(*shape):
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def add_input(builder, name, array):
    kind = {"float32": "FLOAT", "bool": "BOOL", "int64": "INT64"}
    return builder.addInputTensor(kind[str(array.dtype)], list(array.shape),
                                  name)


def infer(model, feeds, outputs):
    session = popart.InferenceSession(
        model, popart.DataFlow(1, outputs),
        popart.DeviceManager().createIpuModelDevice({}))
    session.prepareDevice()
    anchors = session.initAnchorArrays()
    session.run(popart.PyStepIO(feeds, anchors))
    return [anchors[name] for name in outputs]


def run(builder, feeds, outputs):
    """An inference session's results."""
    for name in outputs:
        builder.addOutputTensor(name)
    return infer(builder.getModelProto(), feeds, outputs)


def run_model(builder, feeds, outputs):
    if not builder.getOutputTensorIds():
        builder.addOutputTensor(outputs[0])
    return infer(builder.getModelProto(), feeds, outputs)


def train(builder, feeds, output, wanted):
    """[output] and the gradients of its sum by the wanted tensors."""
    loss = builder.aiGraphcore.identityloss([output],
                                            popart.ReductionType.Sum)
    builder.addOutputTensor(loss)
    anchors = [output] + ["Gradient___" + name for name in wanted]
    session = popart.TrainingSession(
        builder.getModelProto(), popart.DataFlow(1, anchors), loss,
        popart.ConstSGD(0.1), popart.DeviceManager().createIpuModelDevice({}))
    session.prepareDevice()
    session.weightsFromHost()
    arrays = session.initAnchorArrays()
    session.run(popart.PyStepIO(feeds, arrays))
    return [arrays[name] for name in anchors]


def expect(results, function, arrays):
    """The function's value and the gradients of its sum, by PyTorch."""
    tensors = [torch.tensor(array, requires_grad=True) for array in arrays]
    value = function(*tensors)
    value.sum().backward()
    wanted = [value.detach()] + [tensor.grad for tensor in tensors]
    for result, tensor in zip(results, wanted):
        np.testing.assert_allclose(result, tensor.numpy(), rtol=1e-5,
                                   atol=1e-6)
