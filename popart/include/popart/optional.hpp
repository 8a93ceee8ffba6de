// A value or none, by PopART's name.
#pragma once

#include <popart/vendored/optional.hpp>

namespace popart {

template <typename T> using optional = nonstd::optional<T>;

} // namespace popart
