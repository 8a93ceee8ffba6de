// Replicas of one graph that several engines run, each in a process of its own
// (engine options target.firstRuntimeReplica, target.numberRuntimeReplica):
// how they come to know what the replicas of the others have.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace poplar {

class Engine;

namespace internal {

// Gathers `bytes` from every engine: those of this one are at `own`, and those
// of all, in the order of their replicas, go to `all`.
using ReplicaExchange =
    std::function<void(const void *own, void *all, std::size_t bytes)>;

// What the engine's collectives call, one at a time and in the same order in
// all engines. An engine that runs all replicas never does.
void connectExchange(Engine &engine, const ReplicaExchange &exchange);

// The streams behind it, which are named by a number and what they carry.
struct ExchangeHandles {
  std::string own;
  std::string all;
};
ExchangeHandles exchangeHandles(std::size_t number, std::size_t bytes);

} // namespace internal
} // namespace poplar
