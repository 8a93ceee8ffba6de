"""PopART's options and device, as PopDist's environment says."""
import popart
import popdist


def configureSessionOptions(options):
    """Gives a session this instance's share of the replicas."""
    local = popdist.getNumLocalReplicas()
    options.enableReplicatedGraphs = local > 1
    options.replicatedGraphCount = local
    options.enableDistributedReplicatedGraphs = popdist.getNumInstances() > 1
    options.globalReplicationFactor = popdist.getNumTotalReplicas()
    options.globalReplicaOffset = popdist.getReplicaIndexOffset()


def getDevice(connectionType=popart.DeviceConnectionType.Always, **kwargs):
    """A device with the IPUs of this instance's replicas."""
    return popart.DeviceManager().acquireDeviceById(
        popdist.getDeviceId(), connectionType=connectionType, **kwargs
    )
