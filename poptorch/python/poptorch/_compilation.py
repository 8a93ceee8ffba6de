# Compiling a trace: the options as the backend takes them, and the wait for a
# device.
import gc
import os
import time

from . import enums, poptorch_core
from ._empty_model import EmptyModel, isEmpty
from ._errors import createPoptorchError
from ._logging import logger

_IPU_MODEL_TILES = {"ipu1": 1216, "ipu2": 1472, "ipu21": 1472}
_WAIT_SECONDS = 15
# There is nothing to wait for.
_ABSENCES = ("No IPU detected", "No device found")


def backendOptions(options, is_training):
    """Everything that poptorch_core.Executable wants to know."""
    values = options.toDict()
    values["anchors"] = [
        (
            name,
            int(values["output_mode"] if is_default else mode),
            values["output_return_period"] if is_default else period,
        )
        for name, is_default, mode, period in options.anchored_tensors.values()
    ]
    if not is_training:
        values["gradient_accumulation"] = 1
    if values["execution_mode"].endswith("phased"):
        for kind in ("activation", "weight", "optimizer", "accumulator"):
            values.setdefault(f"location_{kind}", {"onChip": 0})
    if "random_seed" in values:
        values["random_seed"] %= 2**64  # as torch takes negative ones
    if "use_model" not in values:
        values["use_model"] = os.environ.get("POPTORCH_IPU_MODEL") == "1"
    _checkPopartOptions(values)
    _warnOfForcedValues(values)
    version = os.environ.get("POPTORCH_IPU_MODEL_VERSION", "ipu2")
    if version not in _IPU_MODEL_TILES:
        raise createPoptorchError(
            "Invalid IPU model version. Valid versions: ipu1, ipu2, ipu21."
        )
    is_small = os.environ.get("POPTORCH_SMALL_IPU_MODEL", "0") != "0"
    values["ipu_model_version"] = version
    values["ipu_model_tiles"] = 4 if is_small else _IPU_MODEL_TILES[version]
    return values


def _checkPopartOptions(values):
    popart = values["popart"]
    is_offline = values["connection_type"] == enums.ConnectionType.Never
    if popart.get("instrumentWithHardwareCycleCounter") and is_offline:
        raise createPoptorchError(
            "Cycle count logging is only supported on actual IPU hardware."
        )
    if popart.get("enableEngineCaching") and values["use_model"]:
        logger.warning(
            "enableExecutableCaching doesn't work with the IPU model"
        )


def _warnOfForcedValues(values):
    """What the user sets by PopART's name against what other options say."""
    accumulation = values["gradient_accumulation"]
    replicas = values["replication_factor"]
    processes = values["num_distributed_processes"]
    ours = {
        "constantWeights": False,
        "enableGradientAccumulation": accumulation > 1,
        "accumulationFactor": accumulation,
        "enableReplicatedGraphs": replicas > 1,
        "enableDistributedReplicatedGraphs": processes > 1,
        "globalReplicationFactor": processes * replicas,
    }
    for name, value in ours.items():
        forced = values["popart"].get(name, value)
        if forced != value:
            logger.warning(
                "%s forced by the user from default to %s, ignoring value %s",
                name, forced, value,
            )  # fmt: skip


def compileTrace(record, options, optimizer, progress):
    """The executable. IPUs may be held by wrappers that are garbage, or, with
    POPTORCH_WAIT_FOR_IPU, by other processes that will release them."""
    if optimizer is None and isEmpty(record, options):
        return EmptyModel()
    arguments = (record, options, optimizer, progress)
    executable = _tryCompile(arguments)
    if executable is None:
        gc.collect()
        executable = _tryCompile(arguments)
    if os.environ.get("POPTORCH_WAIT_FOR_IPU", "0") == "1":
        while executable is None:
            logger.warning("No IPU is free: trying again in %d s", _WAIT_SECONDS)
            time.sleep(_WAIT_SECONDS)
            executable = _tryCompile(arguments)
    if executable is None:
        executable = poptorch_core.Executable(*arguments)
    _warnIfRounded(executable, options)
    for problem in executable.cacheProblems():
        logger.warning("%s", problem)
    return executable


def _tryCompile(arguments):
    """None when all devices of the size are taken."""
    try:
        return poptorch_core.Executable(*arguments)
    except poptorch_core.Error as error:
        message = str(error)
        if "Failed to acquire" in message and not any(
                absence in message for absence in _ABSENCES):
            return None
        raise


def _warnIfRounded(executable, options):
    wanted = executable.ipuCount() * options["replication_factor"]
    reserved = 1 << (wanted - 1).bit_length()
    if reserved != wanted and not options["use_model"]:
        logger.warning(
            "Reserving %d IPUs when the model specifices the use of only %d. "
            "The IPUs that are left over cannot be used for other models.",
            reserved, wanted,
        )  # fmt: skip
