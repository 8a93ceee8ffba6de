"""Optimisers of the package popart against torch.optim, step by step."""
import numpy as np
import popart
import pytest
import torch

STEPS = 5
RNG = np.random.default_rng(7)
START = RNG.standard_normal((3, 4)).astype(np.float32)
BATCHES = RNG.standard_normal((STEPS, 3, 4)).astype(np.float32)


def train(optimizer, replacement=None):
    """loss = sum(w * x); the weight after steps over BATCHES."""
    builder = popart.Builder()
    x = builder.addInputTensor("FLOAT", START.shape, "x")
    w = builder.addInitializedInputTensor(START, "w")
    loss = builder.customOp("IdentityLoss", 1, "ai.graphcore",
                            [builder.aiOnnx.mul([x, w])], {"reduction": 0})[0]
    builder.addOutputTensor(loss)
    session = popart.TrainingSession(
        builder.getModelProto(), popart.DataFlow(1, [loss]), loss, optimizer,
        popart.DeviceManager().createCpuDevice())
    session.prepareDevice()
    session.weightsFromHost()
    if replacement:
        session.updateOptimizerFromHost(replacement)
    for batch in BATCHES:
        session.run(popart.PyStepIO({x: batch}, session.initAnchorArrays()))
    weight = np.empty_like(START)
    session.weightsToHost()
    session.readWeights(popart.PyWeightsIO({w: weight}))
    return weight


def torch_train(optimizer, clip=None, **arguments):
    weight = torch.nn.Parameter(torch.tensor(START, dtype=torch.float64))
    steps = optimizer([weight], **arguments)
    for batch in BATCHES:
        steps.zero_grad()
        (weight * torch.tensor(batch, dtype=torch.float64)).sum().backward()
        if clip:
            torch.nn.utils.clip_grad_norm_([weight], clip)
        steps.step()
    return weight.detach().numpy()


L2 = popart.WeightDecayMode.L2Regularization
SEPARATE = popart.SGDAccumulatorAndMomentum.Separate
RATE = {"defaultLearningRate": (0.05, False), "lossScaling": (8.0, False)}
DECAY = {"defaultWeightDecay": (0.1, True)}
MOMENTUM = {"defaultMomentum": (0.9, True)}


@pytest.mark.parametrize("ours, theirs, arguments", [
    (popart.ConstSGD(0.05, 0.1, 4.0), torch.optim.SGD,
     {"weight_decay": 0.1}),
    (popart.SGD({**RATE, **DECAY, **MOMENTUM}), torch.optim.SGD,
     {"weight_decay": 0.1, "momentum": 0.9}),
    (popart.SGD({**RATE, **DECAY, **MOMENTUM, "nesterov": True}),
     torch.optim.SGD,
     {"weight_decay": 0.1, "momentum": 0.9, "nesterov": True}),
    (popart.SGD({**RATE, **MOMENTUM, "defaultVelocityScaling": 4.0},
                accumulatorAndMomentum=SEPARATE), torch.optim.SGD,
     {"momentum": 0.9}),
    (popart.Adam({**RATE, **DECAY}, weight_decay_mode=L2), torch.optim.Adam,
     {"weight_decay": 0.1, "eps": 1e-6}),
    (popart.Adam({**RATE, **DECAY}), torch.optim.AdamW,
     {"weight_decay": 0.1, "eps": 1e-6}),
    (popart.Adam({**RATE, **DECAY}, scaled_optimizer_state=True),
     torch.optim.AdamW, {"weight_decay": 0.1, "eps": 1e-6}),
    (popart.Adam({**RATE, **DECAY}, mode=popart.AdamMode.AdaMax,
                 weight_decay_mode=L2), torch.optim.Adamax,
     {"weight_decay": 0.1, "eps": 1e-6}),
    (popart.Adaptive({**RATE, **DECAY}, mode=popart.AdaptiveMode.AdaGrad,
                     weight_decay_mode=L2), torch.optim.Adagrad,
     {"weight_decay": 0.1, "eps": 1e-6}),
    (popart.Adaptive({**RATE, **MOMENTUM}), torch.optim.RMSprop,
     {"momentum": 0.9, "eps": 1e-6}),
    (popart.Adaptive({**RATE, **MOMENTUM, "defaultEps": 0.01},
                     mode=popart.AdaptiveMode.CenteredRMSProp),
     torch.optim.RMSprop, {"momentum": 0.9, "eps": 0.01, "centered": True}),
    (popart.Adaptive({**RATE, "defaultAlpha": 0.9},
                     mode=popart.AdaptiveMode.AdaDelta), torch.optim.Adadelta,
     {"rho": 0.9, "eps": 1e-6}),
])
def test_steps_are_those_of_torch(ours, theirs, arguments):
    np.testing.assert_allclose(train(ours),
                               torch_train(theirs, lr=0.05, **arguments),
                               rtol=1e-4, atol=1e-5)


def test_norms_are_clipped_as_in_torch():
    optimizer = popart.SGD(
        RATE, clip_norm_settings=[popart.ClipNormSettings.clipAllWeights(0.5)])
    np.testing.assert_allclose(
        train(optimizer), torch_train(torch.optim.SGD, lr=0.05, clip=0.5),
        rtol=1e-5, atol=1e-6)


def test_specific_values_and_replacement():
    def lamb(rate, mode=popart.AdamMode.LambNoBias):
        optimizer = popart.Adam({"defaultLearningRate": (1.0, False)},
                                mode=mode)
        optimizer.insertSpecific("w", {"learningRate": (rate, False)})
        return optimizer

    np.testing.assert_array_equal(train(lamb(0.5), lamb(0.125)),
                                  train(lamb(0.125)))
    with pytest.raises(popart.popart_exception,
                       match="not a valid replacement.*Adam modes do not"):
        train(lamb(0.5), lamb(0.5, popart.AdamMode.Lamb))
    with pytest.raises(popart.popart_exception, match="beta3.*learningRate"):
        lamb(0.5).insertSpecific("w", {"beta3": 0.5})
