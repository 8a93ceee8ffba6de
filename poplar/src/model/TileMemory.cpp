// What a tile holds: names and sums of the categories.
#include "model/TileMemory.hpp"

#include <numeric>

namespace poplar::model {

std::string_view labelOf(MemoryCategory category) {
  static constexpr std::array<std::string_view, memoryCategories> labels = {
      "Variables",
      "Constants",
      "Host Exchange Packet Headers",
      "Global Exchange Packet Headers",
      "Stack",
      "Vertex Instances",
      "Copy Descriptors",
      "VectorList Descriptors",
      "Vertex Field Data",
      "Control Table",
      "Control Code",
      "Vertex Code",
      "Internal Exchange Code",
      "Host Exchange Code",
      "Global Exchange Code",
      "Instrumentation Results",
      "Shared Code Storage",
      "Shared Data Storage",
  };
  return labels[static_cast<std::size_t>(category)];
}

std::uint64_t TileMemory::used() const {
  return std::accumulate(byCategory.begin(), byCategory.end(),
                         std::uint64_t{0});
}

std::uint64_t TileMemory::code() const {
  using enum MemoryCategory;
  std::uint64_t sum = 0;
  for (const MemoryCategory category :
       {ControlCode, VertexCode, InternalExchangeCode, HostExchangeCode,
        GlobalExchangeCode, SharedCodeStorage}) {
    sum += of(category);
  }
  return sum;
}

std::uint64_t TileMemory::alwaysLive() const {
  return of(MemoryCategory::Variables) + of(MemoryCategory::Constants) -
         maxLive;
}

} // namespace poplar::model
