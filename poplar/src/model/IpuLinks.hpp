// The links between IPUs: a ladder whose rungs join IPUs 2k and 2k+1 and whose
// rails join the even and the odd ones.
#pragma once

#include "model/Step.hpp"
#include <poplar/internal/TargetData.hpp>

#include <span>

namespace poplar::model {

// Cycles that the links need for these flows, all at the same time: the time of
// the busiest link and the latency of the longest way, without the sync.
std::uint64_t linkCycles(const internal::TargetData &target,
                         std::span<const IpuFlow> flows);

} // namespace poplar::model
