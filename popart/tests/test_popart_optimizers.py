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


def read_state(session, *names):
    """Tensors of the optimiser, after weightsToHost."""
    arrays = {name: np.empty(session.getInfo(name).shape(), np.float32)
              for name in names}
    session.weightsToHost()
    session.readWeights(popart.PyWeightsIO(arrays))
    return [arrays[name] for name in names]


def one_weight(optimizer, start=1.0):
    """A session whose gradient is x; the weight and the optimiser's tensors."""
    builder = popart.Builder()
    x = builder.addInputTensor("FLOAT", [1], "x")
    w = builder.addInitializedInputTensor(np.array([start], np.float32), "w")
    loss = builder.aiGraphcore.identityloss([builder.aiOnnx.mul([x, w])],
                                            popart.ReductionType.Sum)
    session = popart.TrainingSession(
        builder.getModelProto(), popart.DataFlow(1, [loss]), loss, optimizer,
        popart.DeviceManager().createCpuDevice())
    session.prepareDevice()
    session.weightsFromHost()
    return session


@pytest.mark.parametrize("is_tf, start, variance, weight", [
    (True, 1.0, 0.953125, 0.974406), (False, 0.0, 0.003125, 0.560646)])
def test_the_root_of_rmsprop(is_tf, start, variance, weight):
    """One step by hand: sqrt(v + eps) or sqrt(v) + eps."""
    session = one_weight(popart.Adaptive(
        {"defaultLearningRate": (0.1, True), "defaultAlpha": (0.95, True),
         "defaultEps": (0.001, True)}, rmsprop_tf_variant=is_tf))
    (before,) = read_state(session, "Accl1___w")
    session.run(popart.PyStepIO({"x": np.array([0.25], np.float32)},
                                session.initAnchorArrays()))
    after, w = read_state(session, "Accl1___w", "w")
    assert before[0] == start
    np.testing.assert_allclose([after[0], w[0]], [variance, weight], rtol=1e-5)


def combined_velocity(decay, dampening, scaling):
    """The first step has the decay already: it starts with it."""
    return (1 - dampening) * decay * scaling


@pytest.mark.parametrize("optimizer, states", [
    (popart.SGD({"defaultMomentum": (0.9, True),
                 "defaultDampening": (0.25, True),
                 "defaultWeightDecay": (0.125, True),
                 "defaultVelocityScaling": (4.0, True)}),
     {"Accl___w": 3 * combined_velocity(0.125, 0.25, 4.0)}),
    (popart.SGD({"defaultMomentum": (0.9, True)},
                accumulatorAndMomentum=SEPARATE), {"Accl1___w": 0.0}),
    *[(popart.Adam({}, mode=mode),
       {"Accl1___w": 0.0, "Accl2___w": 0.0, "Step___w": 0.0})
      for mode in (popart.AdamMode.Adam, popart.AdamMode.AdaMax,
                   popart.AdamMode.Lamb)],
    *[(popart.Adam({}, mode=mode), {"Accl1___w": 0.0, "Accl2___w": 0.0})
      for mode in (popart.AdamMode.AdamNoBias, popart.AdamMode.LambNoBias)],
    *[(popart.Adaptive({"defaultMomentum": (0.9, True)}, mode=mode,
                       rmsprop_tf_variant=is_tf),
       {"Accl1___w": float(is_tf), "Accl2___w": 0.0, "Accl3___w": 0.0})
      for mode, is_tf in ((popart.AdaptiveMode.CenteredRMSProp, False),
                          (popart.AdaptiveMode.CenteredRMSProp, True),
                          (popart.AdaptiveMode.AdaDelta, False))],
    (popart.Adaptive({}, mode=popart.AdaptiveMode.AdaGrad),
     {"Accl1___w": 0.0}),
])
def test_states_before_the_first_step(optimizer, states):
    session = one_weight(optimizer, start=3.0)
    found = read_state(session, *states)
    assert [float(array.flatten()[0]) for array in found] == pytest.approx(
        list(states.values()))


def test_ones_of_half_precision():
    optimizer = popart.Adaptive({"defaultEps": (0.001, True)},
                                accl1_type=popart.DataType.FLOAT16,
                                rmsprop_tf_variant=True)
    session = one_weight(optimizer)
    arrays = {"Accl1___w": np.empty([1], np.float16)}
    session.weightsToHost()
    session.readWeights(popart.PyWeightsIO(arrays))
    assert arrays["Accl1___w"][0] == 1
