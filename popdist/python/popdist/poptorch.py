"""PopTorch's options, set as PopDist's environment says."""
import os

import popdist
import poptorch


class Options(poptorch.Options):
    """Replicas, processes, device and cache are those of the environment."""

    def __init__(self, ipus_per_replica=None):
        super().__init__()
        ipus = ipus_per_replica or popdist.getNumIpusPerReplica()
        if not popdist.checkNumIpusPerReplica(ipus):
            raise popdist.popdist_exception(
                f"The program uses {ipus} IPUs per replica; "
                f"--ipus-per-replica is {popdist.getNumIpusPerReplica()}"
            )
        self.replicationFactor(popdist.getNumLocalReplicas())
        self.Distributed.configureProcessId(
            popdist.getInstanceIndex(), popdist.getNumInstances()
        )
        if popdist.getNumInstances() > 1:
            self.useIpuId(popdist.getDeviceId(ipus))
        cache = os.environ.get("POPDIST_EXECUTABLE_CACHE_PATH")
        if cache:
            self.enableExecutableCaching(cache)
