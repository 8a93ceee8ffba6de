// Sessions whose replicas are shared out among processes: each runs its own,
// and PopDist carries between them what their collectives need.
#include <session/Implementation.hpp>

#include <popdist/collectives.hpp>
#include <popdist/internal/Instances.hpp>
#include <support/Logging.hpp>

namespace popart {
namespace {

constexpr support::Logger logger(support::LogChannel::Popart, "session");

// There is one instance, so that weights have nowhere to go. Several need not
// share out the replicas of a session.
bool isAlone() {
  return popdist::isBackendInitialized()
             ? popdist::internal::participants() == 1
             : !popdist::isPopdistEnvSet() || popdist::getNumInstances() == 1;
}

} // namespace

std::unique_ptr<poplar::Engine>
makeEngine(const Session::Implementation &self) {
  if (!self.isDistributed()) {
    return std::make_unique<poplar::Engine>(self.executable);
  }
  poplar::OptionFlags share = {
      {"target.syncReplicasIndependently", "true"},
      {"target.firstRuntimeReplica",
       std::to_string(self.ir->sessionOptions.globalReplicaOffset)},
      {"target.numberRuntimeReplica", std::to_string(self.replicas())}};
  auto engine = std::make_unique<poplar::Engine>(self.executable, share);
  popdist::internal::connectReplicas(*engine);
  return engine;
}

void meetOtherProcesses(const Session::Implementation &self) {
  if (!self.isDistributed()) {
    return;
  }
  if (!popdist::isBackendInitialized()) {
    logger.warn("A session of several processes without popdist.init() is "
                "deprecated: call it first");
    popdist::internal::ensureBackend();
  }
  std::int64_t offset = self.ir->sessionOptions.globalReplicaOffset;
  std::int64_t processes = popdist::internal::participants();
  support::requireUser<error>(
      processes * self.replicas() == self.allReplicas() &&
          popdist::internal::index() * self.replicas() == offset,
      "[session] it has replicas {} to {} of {}, but is process {} of {}: "
      "start {} processes with poprun",
      offset, offset + self.replicas() - 1, self.allReplicas(),
      popdist::internal::index(), processes,
      self.allReplicas() / self.replicas());
}

std::vector<char> gatherFromProcesses(const Session::Implementation &self,
                                      const std::vector<char> &own) {
  auto processes =
      static_cast<std::size_t>(self.allReplicas() / self.replicas());
  std::vector<char> all(own.size() * processes);
  popdist::collectives::allGather(own.data(), all.data(), own.size(),
                                  poplar::CHAR);
  return all;
}

void Session::broadcastWeights(int rootRank) {
  Implementation &self = *implementation_;
  if (!self.isDistributed() && isAlone()) {
    support::requireUser<error>(rootRank == 0,
                                "[broadcastWeights] there is one process; its "
                                "rank is 0, not {}",
                                rootRank);
    return;
  }
  self.isDistributed() ? meetOtherProcesses(self)
                       : popdist::internal::ensureBackend();
  self.forEachVariable([&](Tensor &tensor) {
    popdist::collectives::broadcast(tensor.data.change(), tensor.data.size(),
                                    poplar::CHAR, rootRank);
  });
}

} // namespace popart
