"""A model of one weight and sessions of it, for the tests of sessions."""
import numpy as np
import popart

error = popart.popart_exception


def cpu():
    return popart.DeviceManager().createCpuDevice()


def ipus(count=1):
    return popart.DeviceManager().createIpuModelDevice(
        {"numIPUs": count, "tilesPerIPU": 4})


def total(builder, x):
    return builder.customOp("IdentityLoss", 1, "ai.graphcore", [x],
                            {"reduction": int(popart.ReductionType.Sum)})[0]


def model(start=(5.0, 6.0), settings=None, replicas=1):
    """loss = sum(w * x): each step of SGD takes x from w."""
    builder = popart.Builder()
    if settings:
        builder.embedReplicationFactor(replicas)
    x = builder.addInputTensor("FLOAT", [2], "x")
    w = builder.addInitializedInputTensor(
        np.array(start, np.float32), settings or popart.VariableSettings(),
        "w")
    y = builder.aiOnnx.mul([x, w])
    loss = total(builder, y)
    builder.addOutputTensor(loss)
    return builder.getModelProto(), x, w, y, loss


def inference(options=None, device=None, steps=1, **arguments):
    proto, x, w, y, _ = model(**arguments)
    session = popart.InferenceSession(
        proto, popart.DataFlow(steps, [y]), device or cpu(),
        userOptions=options)
    session.prepareDevice()
    return session, x, w, y


def run(session, values, name="x"):
    anchors = session.initAnchorArrays()
    session.run(popart.PyStepIO({name: np.array(values, np.float32)}, anchors))
    return anchors


def replicated(count):
    options = popart.SessionOptions()
    options.enableReplicatedGraphs = True
    options.replicatedGraphCount = count
    return options
