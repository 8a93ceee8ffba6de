"""A model larger than the IPUs' memory: weights that come when they are needed.

    python3 phased_execution.py [--layers 6] [--width 64]

Each layer is an execution phase. The phases take turns on two IPUs; a layer's
weights are kept in the host's memory and are loaded through I/O tiles while the
other IPU still computes the phase before.
"""
import argparse

import numpy as np
import popart

BATCH = 16


def build_model(layers: int, width: int):
    random = np.random.default_rng(2)
    builder = popart.Builder()
    x = builder.addInputTensor(popart.TensorInfo("FLOAT", [BATCH, width]),
                               "x")
    y, weights = x, []
    for layer in range(layers):
        with builder.executionPhase(layer), builder.virtualGraph(layer % 2):
            values = random.normal(0, 1 / np.sqrt(width), (width, width))
            w = builder.addInitializedInputTensor(values.astype(np.float32),
                                                  f"w{layer}")
            weights.append(values.astype(np.float32))
            y = builder.aiOnnx.relu([builder.aiOnnx.matmul([y, w])])
    with builder.executionPhase(layers - 1), \
            builder.virtualGraph((layers - 1) % 2):
        loss = builder.aiOnnx.reducel1([y], keepdims=0)
    builder.addOutputTensor(loss)
    return builder.getModelProto(), x, y, loss, weights


def session_options(layers: int) -> popart.SessionOptions:
    options = popart.SessionOptions()
    options.virtualGraphMode = popart.VirtualGraphMode.ExecutionPhases
    options.executionPhaseSettings.phases = layers
    options.executionPhaseSettings.stages = 2
    options.constantWeights = False  # constants would stay on the chip
    options.numIOTiles = 128
    location = popart.TensorLocation()
    location.storage = popart.TensorStorage.OffChip
    location.loadTileSet = popart.TileSet.IO
    location.storageTileSet = popart.TileSet.IO
    location.replicatedTensorSharding = popart.ReplicatedTensorSharding.Off
    options.weightTensorLocationSettings.location = location
    options.engineOptions = {"debug.allowOutOfMemory": "true"}
    return options


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=64)
    arguments = parser.parse_args()
    model, x, y, loss, weights = build_model(arguments.layers,
                                             arguments.width)
    device = popart.DeviceManager().acquireAvailableDevice(
        2, pattern=popart.SyncPattern.ReplicaAndLadder)
    session = popart.InferenceSession(
        model, popart.DataFlow(1, {y: popart.AnchorReturnType("Final"),
                                   loss: popart.AnchorReturnType("Final")}),
        device, userOptions=session_options(arguments.layers))
    session.prepareDevice()
    session.weightsFromHost()
    anchors = session.initAnchorArrays()
    data = np.random.default_rng(3).normal(
        0, 1, (BATCH, arguments.width)).astype(np.float32)
    session.run(popart.PyStepIO({x: data}, anchors))
    expected = data
    for w in weights:
        expected = np.maximum(expected @ w, 0)
    print(f"Largest difference from NumPy: "
          f"{np.abs(anchors[y] - expected).max():.1e}")
    print(f"Loss: {float(anchors[loss]):.4f}")


if __name__ == "__main__":
    main()
