"""What a recoverable error of the device asks for."""
import enum


class RecoveryAction(enum.Enum):
    IPU_RESET = 0
    LINK_RESET = 1
    PARTITION_RESET = 2
    FULL_RESET = 3
