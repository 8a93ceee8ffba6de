// What Device and its attributes have in common.
#pragma once

#include <poplar/internal/Hardware.hpp>

#include <array>
#include <vector>

namespace poplar::internal {

// Of the driver that the 3.3 release came with.
inline constexpr std::array<unsigned, 3> driverVersion = {1, 1, 3};

// Throws poplar_error for an id that the system does not have.
const IpuGroup &groupOf(const std::vector<IpuGroup> &groups, unsigned deviceId);

} // namespace poplar::internal
