// The documented error of a program that does not fit, with what a report
// would say, where the engine option debug.allowOutOfMemory asks for one.
#pragma once

#include <poplar/exceptions.hpp>

#include <string>
#include <utility>

namespace poplar::internal {

struct OutOfMemory : graph_memory_allocation_error {
  OutOfMemory(const std::string &message, std::string text)
      : graph_memory_allocation_error(message), summary(std::move(text)) {}

  // The text of printProfileSummary().
  std::string summary;
};

} // namespace poplar::internal
