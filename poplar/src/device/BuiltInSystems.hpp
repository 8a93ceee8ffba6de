// The files of poplar/systems, which the build puts into the library.
#pragma once

#include <span>
#include <string_view>

namespace poplar::internal {

struct BuiltInSystem {
  std::string_view name; // of the file, without ".json"
  std::string_view text;
};

// In the order of poplar/CMakeLists.txt, which is that of the documents.
std::span<const BuiltInSystem> builtInSystems();

} // namespace poplar::internal
