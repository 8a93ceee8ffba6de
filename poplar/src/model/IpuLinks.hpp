// The links between IPUs. Inside a link domain a ladder, open or closed to a
// ring, or a line; between domains the gateways of the IPU-Machines.
#pragma once

#include "model/Step.hpp"
#include <poplar/internal/TargetData.hpp>

#include <span>

namespace poplar::model {

// Cycles that the links need for these flows, all at the same time: the time of
// the busiest link and the latency of the longest way, without the sync. `ipus`
// is how many the flows are numbered over, those of all replicas.
std::uint64_t linkCycles(const internal::TargetData &target, unsigned ipus,
                         std::span<const IpuFlow> flows);

} // namespace poplar::model
