"""ONNX Runtime and JAX, in a virtual environment under build/.

It sees the system's packages, PyTorch among them; nothing is installed outside.
"""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "build/bench/peers"
PYTHON = FOLDER / "bin/python"
# The last that go with Debian 12's NumPy.
PACKAGES = ("onnxruntime==1.17.3", "jax==0.4.30", "jaxlib==0.4.30",
            "numpy<1.25", "scipy<1.12")
VERSIONS = """
import json, jax, onnxruntime
print(json.dumps({"ONNX Runtime": onnxruntime.__version__,
                  "JAX": jax.__version__}))
"""


def install() -> str | None:
    """The environment's Python; nothing where packages cannot be fetched."""
    if not PYTHON.exists():  # or was not finished
        subprocess.run([sys.executable, "-m", "venv", "--system-site-packages",
                        "--clear", FOLDER], check=True)
    if not works():
        print("fetching ONNX Runtime and JAX ...", flush=True)
        subprocess.run([FOLDER / "bin/pip", "install", "--quiet", *PACKAGES])
    return str(PYTHON) if works() else None


def works() -> bool:
    return subprocess.run([PYTHON, "-c", VERSIONS],
                          capture_output=True).returncode == 0


def versions() -> str:
    return subprocess.run([PYTHON, "-c", VERSIONS], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
