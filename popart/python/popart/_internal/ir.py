"""Types of the IR for packages that build graphs without ONNX."""
from ..popart_core import (  # noqa: F401
    CommGroup,
    CommGroupType,
    DataType,
    DeviceInfo,
    OperatorIdentifier,
    ReplicaGrouping,
    VariableRetrievalMode,
    VariableSettings,
)
from ..popart_core import _CollectiveOperator as CollectiveOperator  # noqa: F401
