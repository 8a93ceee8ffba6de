// Checks of variables, and of views and runs that must stay inside them.
#pragma once

#include <poplar/internal/GraphData.hpp>

#include <cstdint>
#include <vector>

namespace poplar::executable {

// Pieces of a tile mapping: in order, and no larger than anything may be.
void checkMapping(const std::vector<internal::MappingPiece> &pieces);

// The variables of a graph, each checked.
class CheckedVariables {
public:
  CheckedVariables(const std::vector<internal::Variable> &variables,
                   std::uint64_t tiles);

  void checkView(const internal::TensorView &view) const;
  // Elements [begin, begin + count), taken as `type`.
  void checkRun(internal::VariableId variable, std::int64_t begin,
                std::int64_t count, support::DataType type) const;

private:
  struct Size {
    std::int64_t elements = 0;
    std::size_t elementBytes = 0;
  };
  const Size &sizeOf(internal::VariableId variable,
                     support::DataType type) const;

  std::vector<Size> sizes_;
};

} // namespace poplar::executable
