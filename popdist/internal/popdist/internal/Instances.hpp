// For the libraries above: engines whose replicas are shared out, and the
// numbers of instances that take part in a collective.
#pragma once

#include <popdist/context.hpp>

#include <cstdint>
#include <string>

namespace poplar {
class Engine;
} // namespace poplar

namespace popdist {
namespace internal {

// Initialises the default backend unless a backend is initialised.
void ensureBackend();

// From now on the engine's collectives span the replicas of all instances.
void connectReplicas(poplar::Engine &engine);

// This instance's number among all, once there is a backend; the environment
// of poprun may be missing.
std::uint32_t index();
// How many instances `id` names.
std::uint32_t participants(const std::string &id = defaultCommunicatorId());

} // namespace internal
} // namespace popdist
