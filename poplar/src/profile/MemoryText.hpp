// The memory section of the profile summary.
#pragma once

#include "model/MemoryUse.hpp"
#include "profile/ProfileSummary.hpp"

#include <iosfwd>

namespace poplar::profile {

void printMemory(std::ostream &stream, const ProfileRequest &request,
                 const model::MemoryUse &use, unsigned tilesPerIpu);

} // namespace poplar::profile
