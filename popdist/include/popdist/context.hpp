// What an instance knows of itself and the others, from the environment that
// poprun sets (POPDIST_...), and runs that all instances make together. Without
// that environment a program is the only instance.
#pragma once

#include <popdist/backend.hpp>

#include <cstdint>
#include <set>
#include <string>

namespace poplar {
class Engine;
} // namespace poplar

namespace popdist {

bool isPopdistEnvSet();
std::uint32_t getNumTotalReplicas();
std::uint32_t getNumLocalReplicas();
std::uint32_t getNumIpusPerReplica();
// False when the environment has another number.
bool checkNumIpusPerReplica(std::uint32_t ipus);
// The first of this instance's replicas among all.
std::uint32_t getReplicaIndexOffset();
// These two need instances with equally many replicas.
std::uint32_t getNumInstances();
std::uint32_t getInstanceIndex();
// Among the instances of this host.
std::uint32_t getLocalInstanceIndex();

constexpr const char *defaultCommunicatorId() {
  return "default";
}
// From now on, collectives by this name are among these instances only. Called
// by all of them.
void registerCommunicator(const std::set<std::uint32_t> &participants,
                          const std::string &id = defaultCommunicatorId());

// Runs a program of an engine in all instances at the same time: its
// collectives span the replicas of all. With one instance, engine.run().
void run(poplar::Engine &engine, unsigned program,
         const std::string &debugName = "");

} // namespace popdist
