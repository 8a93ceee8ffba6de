// The order of selected or sorted elements.
#pragma once

#include <ostream>

namespace popops {

enum class SortOrder { NONE, ASCENDING, DESCENDING };

std::ostream &operator<<(std::ostream &stream, const SortOrder &order);

} // namespace popops
