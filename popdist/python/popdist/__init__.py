"""PopDist: instances of a program that train together, each with some of the
replicas. What an instance knows of the others comes from the environment that
poprun sets; without it a program is the only instance."""
from .popdist_core import (  # noqa: F401
    checkNumIpusPerReplica,
    finalizeBackend,
    getInstanceIndex,
    getLocalInstanceIndex,
    getNumInstances,
    getNumIpusPerReplica,
    getNumLocalReplicas,
    getNumTotalReplicas,
    getReplicaIndexOffset,
    initializeBackend,
    isBackendInitialized,
    isPopdistEnvSet,
    popdist_exception,
    registerBackend,
    registerCommunicator,
    registerDefaultBackend,
)


def init():
    """Meets the other instances, over MPI. To be called once before anything
    else, when the environment is set; the program's end takes leave."""
    if not isPopdistEnvSet():
        raise popdist_exception(
            "popdist.init(): the environment of PopDist is not set: start the "
            "program with poprun, or ask popdist.isPopdistEnvSet() first"
        )
    registerDefaultBackend()
    initializeBackend()


def getDeviceId(ipusPerReplica=0):
    """The id of the device that this instance should use."""
    import popart

    ipus = (ipusPerReplica or getNumIpusPerReplica()) * getNumLocalReplicas()
    devices = popart.DeviceManager().enumerateDevices(numIpus=ipus)
    index = getLocalInstanceIndex()
    if index >= len(devices):
        raise popdist_exception(
            f"There is no device of {ipus} IPUs for instance {index} of this "
            f"host; there are {len(devices)}"
        )
    return devices[index].id


def execute_on_instances(instances, func, *args, **kwargs):
    """func(*args, **kwargs) in the instances named, with collectives among
    them alone; None in the others."""
    instances = set(instances)
    if isBackendInitialized():
        registerCommunicator(instances)
    result = None
    if getInstanceIndex() in instances:
        result = func(*args, **kwargs)
    if isBackendInitialized():
        registerCommunicator(set(range(getNumInstances())))
    return result
