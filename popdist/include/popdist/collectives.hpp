// Collectives between the hosts' memories of instances.
#pragma once

#include <popdist/context.hpp>

#include <poplar/Type.hpp>

#include <cstddef>
#include <string>

namespace popdist {
namespace collectives {

// Sums in the order of instances.
void allReduceSum(void *inout, std::size_t count, poplar::Type type,
                  const std::string &id = defaultCommunicatorId());

// `count` elements of each instance, in their order; `in` may be null when
// they are at their place in `out` already.
void allGather(const void *in, void *out, std::size_t count, poplar::Type type,
               const std::string &id = defaultCommunicatorId(),
               bool inplace = false);

void broadcast(void *data, std::size_t count, poplar::Type type, int root,
               const std::string &id = defaultCommunicatorId());

} // namespace collectives
} // namespace popdist
