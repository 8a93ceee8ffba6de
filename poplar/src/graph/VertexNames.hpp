// Names of vertex types, as programs write them and as tables keep them.
#pragma once

#include <poplar/StringRef.hpp>

#include <string>

namespace poplar::internal {

// Without the spaces that C++ allows after commas and around angle brackets:
// "V<int, unsigned int >" is "V<int,unsigned int>".
std::string normaliseVertexName(StringRef name);

} // namespace poplar::internal
