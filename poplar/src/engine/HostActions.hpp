// Programs that the host serves: printing, aborting, remote buffers, cycle
// counts. Both executors come here with the operands packed.
#pragma once

#include "engine/HostServices.hpp"

#include <poplar/internal/ProgramNode.hpp>

#include <cstddef>

namespace poplar::engine {

// `operands` are those views of the node that are present, in this order:
// offsets or condition, what is read, what is written.
void runHostAction(HostServices &host, const internal::ProgramNode &node,
                   std::byte *const *operands);

} // namespace poplar::engine
