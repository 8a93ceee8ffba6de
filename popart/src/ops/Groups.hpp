// Operators whose operands may have a first dimension of groups, "group_size"
// of them, each with indices of its own.
#pragma once

#include <popart/op.hpp>

#include <cstddef>

namespace popart {

bool isGrouped(const Op &op);
// Throws popart::error unless inputs 0 and 1 have the groups.
void checkGroups(const Op &op);
// "axis" of input 0, which may not be the groups'. Theirs counts.
std::size_t groupedAxis(const Op &op, std::int64_t fallback);

} // namespace popart
