"""PopART: ONNX models on IPUs, here on Aspen's emulated ones."""
import sys as _sys

try:
    from . import popart_core
except ImportError as error:
    raise ImportError(
        "Unable to import PopART: its native library cannot be loaded. "
        "Enable the SDK first: source build/sdk/enable.sh"
    ) from error

# The original has it beside the package.
_sys.modules.setdefault("popart_core", popart_core)

from .popart_core import *  # noqa: E402, F401, F403
from ._logging import Logger, getLogger  # noqa: E402
from ._names import *  # noqa: E402, F401, F403
from ._opsets import (  # noqa: E402
    AiGraphcoreOpset1,
    AiOnnxMlOpset1,
    AiOnnxOpset6,
    AiOnnxOpset7,
    AiOnnxOpset8,
    AiOnnxOpset9,
    AiOnnxOpset10,
    AiOnnxOpset11,
)
from ._definitions import getSupportedOperationsDefinition  # noqa: E402
from ._options import SessionOptions  # noqa: E402
from .builder import Builder, DebugContext  # noqa: E402
from .session import (  # noqa: E402
    InferenceSession,
    OutOfMemoryException,
    TrainingSession,
)
from .tensorinfo import TensorInfo, getTensorInfo  # noqa: E402

__version__ = "3.3.0-aspen"

defaultAiOnnxOpset = 10
defaultAiOnnxMlOpset = 1
defaultAiGraphcoreOpset = 1

_SYNC_PATTERNS = {
    "full": SyncPattern.Full,  # noqa: F405
    "singlePipeline": SyncPattern.SinglePipeline,  # noqa: F405
    "replicaAndLadder": SyncPattern.ReplicaAndLadder,  # noqa: F405
}


def versionString() -> str:
    return __version__


def versionNumber() -> tuple:
    return tuple(int(part) for part in __version__.split("-")[0].split("."))


def packageHash() -> str:
    return "aspen"


def syncPatternFromString(text: str):
    if text not in _SYNC_PATTERNS:
        raise popart_exception(  # noqa: F405
            f"Unknown sync pattern '{text}'; there are "
            f"{', '.join(_SYNC_PATTERNS)}")
    return _SYNC_PATTERNS[text]


def syncPatternToString(pattern) -> str:
    return next(name for name, value in _SYNC_PATTERNS.items()
                if value == pattern)
