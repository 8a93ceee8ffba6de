"""Replicas with weights in common and weights of their own.

    python3 replication.py

Four replicas of a model run on four IPUs, each with its own data. They share
`shared`; of `grouped` the replicas 0 and 1 have one value, 2 and 3 another, as
VariableSettings say. Weights are read from the device and written to it.
"""
import numpy as np
import popart

REPLICAS = 4


def build_model():
    """loss = sum(x * shared * grouped)"""
    builder = popart.Builder()
    builder.embedReplicationFactor(REPLICAS)
    x = builder.addInputTensor(popart.TensorInfo("FLOAT", [1]), "x")
    shared = builder.addInitializedInputTensor(
        np.array([1], np.float32), "shared")
    pairs = popart.CommGroup(popart.CommGroupType.Consecutive, 2)
    grouped = builder.addInitializedInputTensor(
        np.array([[1], [10]], np.float32),
        popart.VariableSettings(
            pairs, popart.VariableRetrievalMode.AllReplicas), "grouped")
    product = builder.aiOnnx.mul([builder.aiOnnx.mul([x, shared]), grouped])
    loss = builder.aiGraphcore.identityloss(
        [product], popart.ReductionType.Sum)
    builder.addOutputTensor(loss)
    return builder.getModelProto(), x, shared, grouped, loss


def read(session, shared: str, grouped: str) -> dict:
    weights = {shared: np.empty(1, np.float32),
               grouped: np.empty((REPLICAS, 1), np.float32)}
    session.weightsToHost()  # from the device to PopART
    session.readWeights(popart.PyWeightsIO(weights))  # and to these arrays
    return weights


def show(title: str, weights: dict) -> None:
    print(title, *(f"{name} = {values.ravel().tolist()}"
                   for name, values in weights.items()))


def main() -> None:
    model, x, shared, grouped, loss = build_model()
    options = popart.SessionOptions()
    options.enableReplicatedGraphs = True
    options.replicatedGraphCount = REPLICAS
    device = popart.DeviceManager().createIpuModelDevice(
        {"numIPUs": REPLICAS})
    session = popart.TrainingSession(
        model, popart.DataFlow(1, {loss: popart.AnchorReturnType("All")}),
        loss, popart.ConstSGD(1.0), device, userOptions=options)
    session.prepareDevice()
    session.weightsFromHost()
    show("Before:", read(session, shared, grouped))

    anchors = session.initAnchorArrays()
    data = {x: np.array([1, 2, 3, 4], np.float32)}
    session.run(popart.PyStepIO(data, anchors))
    print("Losses:", anchors[loss].ravel().tolist())
    show("After a step:", read(session, shared, grouped))

    session.writeWeights(popart.PyWeightsIO(
        {grouped: np.array([[5], [6]], np.float32)}))
    session.weightsFromHost()
    show("Written:", read(session, shared, grouped))


if __name__ == "__main__":
    main()
