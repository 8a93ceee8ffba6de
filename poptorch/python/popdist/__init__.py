"""PopDist: what a process knows of the others that it trains with, from the
environment that poprun sets. Without it a process is the only one."""
import os

_PREFIX = "POPDIST_"


def _number(name, default):
    return int(os.environ.get(_PREFIX + name, default))


def isPopdistEnvSet():
    """Whether poprun started this process."""
    return _PREFIX + "NUM_TOTAL_REPLICAS" in os.environ


def init():
    """To be called once before anything else, when the environment is set."""
    if not isPopdistEnvSet():
        raise RuntimeError(
            "popdist.init(): the environment of PopDist is not set: start the "
            "program with poprun, or ask popdist.isPopdistEnvSet() first"
        )
    if getNumTotalReplicas() % getNumLocalReplicas():
        raise RuntimeError(
            f"{getNumTotalReplicas()} replicas cannot be shared out by "
            f"{getNumLocalReplicas()}"
        )


def getNumTotalReplicas():
    return _number("NUM_TOTAL_REPLICAS", getNumLocalReplicas())


def getNumLocalReplicas():
    return _number("NUM_LOCAL_REPLICAS", 1)


def getNumIpusPerReplica():
    return _number("NUM_IPUS_PER_REPLICA", 1)


def getReplicaIndexOffset():
    """The number of this process's first replica among all."""
    return _number("REPLICA_INDEX_OFFSET", 0)


def getNumInstances():
    return getNumTotalReplicas() // getNumLocalReplicas()


def getInstanceIndex():
    return getReplicaIndexOffset() // getNumLocalReplicas()


def getLocalInstanceIndex():
    """Among the processes on this host."""
    return _number("LOCAL_INSTANCE_INDEX", 0)


def checkNumIpusPerReplica(num_ipus_per_replica):
    if num_ipus_per_replica != getNumIpusPerReplica():
        raise RuntimeError(
            f"The program uses {num_ipus_per_replica} IPUs per replica; "
            f"--ipus-per-replica is {getNumIpusPerReplica()}"
        )


def getDeviceId(ipus_per_replica=0):
    """The id of the device that this process should use."""
    import popart

    ipus = (ipus_per_replica or getNumIpusPerReplica()) * getNumLocalReplicas()
    devices = popart.DeviceManager().enumerateDevices(numIpus=ipus)
    index = getLocalInstanceIndex()
    if index >= len(devices):
        raise RuntimeError(
            f"There is no device of {ipus} IPUs for process {index} of this "
            f"host; there are {len(devices)}"
        )
    return devices[index].id


def execute_on_instances(instances, func, *args, **kwargs):
    """func(*args, **kwargs) in the processes named; None in the others."""
    if getInstanceIndex() not in instances:
        return None
    return func(*args, **kwargs)
