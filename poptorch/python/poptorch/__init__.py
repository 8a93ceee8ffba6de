"""PopTorch: PyTorch models on IPUs, here on Aspen's emulated ones."""
import builtins as _builtins
import os as _os

import torch as _torch

_os.environ.setdefault("RDMAV_FORK_SAFE", "1")

try:
    from . import poptorch_core
except ImportError as error:
    raise ImportError(
        "Unable to import PopTorch: its native library cannot be loaded. "
        "Enable the SDK first: source build/sdk/enable.sh"
    ) from error

from . import enums, ops, optim, options, profiling
from ._async_data_accessor import AsynchronousDataAccessor
from ._blocks import (
    BeginBlock,
    Block,
    BlockFunction,
    LegacyBeginBlockFn,
    module_repr,
    removeBlocks,
)
from ._clusters import fps, nearest
from ._cpu_op import CPU
from ._data_loader import DataLoader
from ._errors import createPoptorchError
from ._executable_files import load
from ._hooks import registerPostCompileHook, registerPreCompileHook
from ._import_effects import apply as _applyImportEffects
from ._library import registerLibrary as _registerLibrary
from ._logging import logger, setLogLevel, setUpLogging as _setUpLogging
from ._multi_conv import MultiConv
from ._poplar_executor import PoplarExecutor
from ._strategies import (
    ParallelPhasedExecution,
    Phase,
    PipelinedExecution,
    SerialPhasedExecution,
    ShardedExecution,
    Stage,
)
from ._structure import ICustomArgParser, registerCustomArgParser
from ._version import VERSION
from ._wrappers import inferenceModel, trainingModel
from .enums import (
    AutoStage,
    CommGroupType,
    ConnectionType,
    DataLoaderMode,
    HalfFloatCastingBehavior,
    Liveness,
    MatMulSerializationMode,
    MeanReductionStrategy,
    MultiConvPlanType,
    OutputMode,
    OverlapMode,
    ReductionType,
    SharingStrategy,
    SyncPattern,
    VariableRetrievalMode,
)
from .ops import (
    Attribute,
    NameScope,
    accessAttributes,
    cond,
    ctc_beam_search_decoder,
    custom_op,
    dynamic_slice,
    dynamic_update,
    for_loop,
    getIpuTensorId,
    identity_loss,
    ipu_print_tensor,
    isRunningOnIpu,
    nop,
    recomputationCheckpoint,
    serializedMatMul,
    set_available_memory,
    set_overlap_for_input,
    set_overlap_for_output,
)
from .options import ConfigFileError, Options, TensorLocationSettings
from .poptorch_core import Error, RecoverableError, UnrecoverableError

__version__ = VERSION

_setUpLogging()
_registerLibrary()
_applyImportEffects()


def ipuHardwareIsAvailable(num_ipus=1):
    """Whether the emulated machine has a device of that many IPUs, free or
    not, and the environment does not ask for a model instead."""
    return (
        _os.environ.get("POPTORCH_IPU_MODEL") != "1"
        and poptorch_core.hardwareArchitecture(num_ipus) != ""
    )


def ipuHardwareVersion():
    """2: a Mk2 IPU; 21: one with FP8; -1: unknown."""
    assert ipuHardwareIsAvailable(), (
        "No IPU hardware available on this system"
    )
    architecture = poptorch_core.hardwareArchitecture(1)
    version = architecture.removeprefix("ipu")
    return int(version) if version.isdecimal() else -1


def print(m):
    """Prints modules with their blocks, anything else as it is."""
    if isinstance(m, _torch.nn.Module):
        _builtins.print(module_repr(m))
    else:
        _builtins.print(m)
