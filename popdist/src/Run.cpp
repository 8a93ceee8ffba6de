#include <popdist/collectives.hpp>
#include <popdist/internal/Instances.hpp>

#include <poplar/Engine.hpp>
#include <poplar/internal/ReplicaExchange.hpp>

namespace popdist {

void internal::connectReplicas(poplar::Engine &engine) {
  poplar::internal::connectExchange(
      engine, [](const void *own, void *all, std::size_t bytes) {
        collectives::allGather(own, all, bytes, poplar::UNSIGNED_CHAR);
      });
}

void run(poplar::Engine &engine, unsigned program,
         const std::string &debugName) {
  if (getNumInstances() > 1) {
    internal::connectReplicas(engine);
  }
  engine.run(program, debugName);
}

} // namespace popdist
