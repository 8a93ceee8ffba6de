// For messages about names that do not exist: which one may have been meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace poplar::internal {

// "; did you mean 'clock'?" for a name that is a few letters away from one of
// `names`, otherwise nothing.
std::string suggestName(std::string_view given,
                        std::span<const std::string> names);

} // namespace poplar::internal
