"""An operator of one's own in C++, used and trained from Python.

    g++ -std=c++14 -fPIC -shared swish.cpp -lpopart -lpopops -lpoplar \\
        -o libswish.so
    python3 swish.py [libswish.so]

Fits w in swish(w * x) to given values by gradient descent and checks the first
step with NumPy.
"""
import ctypes
import sys

import numpy as np
import popart

BETA = 1.5
RATE = 0.05


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def build_model(x: np.ndarray, w: np.ndarray):
    builder = popart.Builder()
    ops = builder.aiOnnx
    data = builder.addInputTensor("FLOAT", list(x.shape), "x")
    target = builder.addInputTensor("FLOAT", list(x.shape), "target")
    weight = builder.addInitializedInputTensor(w, "w")
    result = builder.customOp(
        opName="Swish", opVersion=1, domain="examples",
        inputs=[ops.mul([data, weight])], attributes={"beta": BETA})[0]
    error = ops.sub([result, target])
    loss = builder.aiGraphcore.identityloss(
        [ops.mul([error, error])], popart.ReductionType.Sum)
    builder.addOutputTensor(loss)
    return builder.getModelProto(), data, target, weight, loss


def main(library: str) -> None:
    ctypes.cdll.LoadLibrary(library)
    random = np.random.default_rng(3)
    x = random.uniform(0.5, 1.5, 8).astype(np.float32)
    w = np.full(8, 0.1, np.float32)
    wanted = random.uniform(1, 2, 8).astype(np.float32)
    target = wanted * x * sigmoid(BETA * wanted * x)
    model, data, goal, weight, loss = build_model(x, w)
    session = popart.TrainingSession(
        model, popart.DataFlow(1, {loss: popart.AnchorReturnType("All")}), loss,
        popart.ConstSGD(RATE), popart.DeviceManager().createIpuModelDevice({}))
    session.prepareDevice()
    session.weightsFromHost()
    anchors = session.initAnchorArrays()
    step = popart.PyStepIO({data: x, goal: target.astype(np.float32)}, anchors)

    session.run(step)
    got = np.empty_like(w)
    weights = popart.PyWeightsIO({weight: got})
    session.weightsToHost()
    session.readWeights(weights)
    y = w * x
    s = sigmoid(BETA * y)
    slope = 2 * (y * s - target) * (s + BETA * y * s * (1 - s)) * x
    np.testing.assert_allclose(got, w - RATE * slope, rtol=1e-5)
    print(f"first loss {anchors[loss].item():.4f}")

    for _ in range(500):
        session.run(step)
    session.weightsToHost()
    session.readWeights(weights)
    print(f"last loss {anchors[loss].item():.4f}")
    np.testing.assert_allclose(got, wanted, atol=0.02)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "./libswish.so")
