"""PopTorch's options, set as PopDist's environment says."""
import popdist
import poptorch


class Options(poptorch.Options):
    """Replicas, processes and device are those of the environment."""

    def __init__(self, ipus_per_replica=None):
        super().__init__()
        if ipus_per_replica is not None and popdist.isPopdistEnvSet():
            popdist.checkNumIpusPerReplica(ipus_per_replica)
        self.replicationFactor(popdist.getNumLocalReplicas())
        self.Distributed.configureProcessId(
            popdist.getInstanceIndex(), popdist.getNumInstances()
        )
        if popdist.getNumInstances() > 1:
            self.useIpuId(popdist.getDeviceId(ipus_per_replica or 0))
