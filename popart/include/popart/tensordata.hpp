// The bytes of a constant, or the initial ones of a variable.
#pragma once

#include <vector>

namespace popart {

using TensorData = std::vector<char>;

} // namespace popart
