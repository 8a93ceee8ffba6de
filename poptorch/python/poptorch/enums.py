# Every enumeration of the public interface, with the values programs rely on.
from enum import Enum, IntEnum


class OutputMode(IntEnum):
    """Which micro-batches' outputs a call returns."""

    Final = 0
    EveryN = 1
    All = 2
    Sum = 3
    Default = 4


class ConnectionType(IntEnum):
    """When a wrapper attaches to its device."""

    Always = 0
    OnDemand = 1
    Never = 2


class ReductionType(IntEnum):
    Sum = 0
    Mean = 1
    NoReduction = 2


class MeanReductionStrategy(IntEnum):
    """When a mean over micro-batches and replicas is divided."""

    Running = 0
    Post = 1
    PostAndLoss = 2


class DataLoaderMode(IntEnum):
    Sync = 0
    Async = 1
    AsyncRebatched = 2


class SharingStrategy(IntEnum):
    """How a data loader's worker process is started and fed."""

    SharedMemory = 0
    FileSystem = 1
    Fork = 2
    ForkServer = 3


class SyncPattern(IntEnum):
    Full = 0
    SinglePipeline = 1
    ReplicaAndLadder = 2


class MatMulSerializationMode(Enum):
    InputChannels = "input_channels"
    ReducingDim = "reducing_dim"
    OutputChannels = "output_channels"
    Disabled = "none"


class OverlapMode(Enum):
    NoOverlap = "no_overlap"
    OverlapAccumulationLoop = "overlap_accumulation_loop"
    OverlapDeviceIterationLoop = "overlap_device_iteration_loop"


class Liveness(IntEnum):
    """How long a phase's tensors stay on chip."""

    AlwaysLive = 0
    OffChipAfterFwd = 1
    OffChipAfterFwdNoOverlap = 2
    OffChipAfterEachPhase = 3


class AutoStage(IntEnum):
    """How blocks become stages when none are listed."""

    SameAsIpu = 0
    AutoIncrement = 1


class MultiConvPlanType(IntEnum):
    Parallel = 0
    Serial = 1


class CommGroupType(IntEnum):
    """How replicas are grouped."""

    All = 0
    Consecutive = 1
    Orthogonal = 2
    NoGrouping = 3


class VariableRetrievalMode(IntEnum):
    OnePerGroup = 0
    AllReplicas = 2


class HalfFloatCastingBehavior(IntEnum):
    FloatDowncastToHalf = 0
    HalfUpcastToFloat = 1
    Default = 2
