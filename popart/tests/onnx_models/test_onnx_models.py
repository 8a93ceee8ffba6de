"""torchvision's networks and BERT's encoder, exported to ONNX by PyTorch, have
PyTorch's scores and learn as they do in PyTorch. FULL_MODELS=1 takes them in
their full sizes."""

import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torchvision")
pytest.importorskip("onnx")

from .exported import infer, popart_losses, torch_losses  # noqa: E402
from .networks import FULL, SMALL  # noqa: E402

NETWORKS = FULL if os.environ.get("FULL_MODELS") else SMALL


HAS_AVX512 = "avx512f" in Path("/proc/cpuinfo").read_text()


@pytest.mark.parametrize("name", NETWORKS)
def test_inference(name):
    found, expected = infer(NETWORKS[name])
    assert found.shape == expected.shape
    difference = np.abs(found - expected).max() / np.abs(expected).max()
    assert difference <= 1e-4


@pytest.mark.parametrize("name", NETWORKS)
def test_three_training_steps(name):
    if name in ("resnet18", "mobilenet_v2") and not HAS_AVX512:
        pytest.xfail("this batch has an activation within a rounding of zero: "
                     "near ties in docs/compatibility.md")
    found = popart_losses(NETWORKS[name], 3)
    expected = torch_losses(NETWORKS[name], 3)
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    # The updates are seen: they change the loss by more than it may be wrong.
    assert min(abs(np.diff(found))) > 1e-3 * found[0]
