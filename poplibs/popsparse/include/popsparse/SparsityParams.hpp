// What kind of sparsity a matrix has: single elements or blocks of them.
#pragma once

#include <array>
#include <cstddef>
#include <ostream>

namespace popsparse {
namespace dynamic {

enum class SparsityType { Element, Block };

enum class SparsityStructure { Unstructured };

struct SparsityParams {
  SparsityType type;
  SparsityStructure structure;
  std::array<std::size_t, 2> blockDimensions; // rows, columns

  SparsityParams(SparsityType type = SparsityType::Element,
                 SparsityStructure structure = SparsityStructure::Unstructured,
                 const std::array<std::size_t, 2> &blockDimensions = {{1, 1}})
      : type(type), structure(structure), blockDimensions(blockDimensions) {}
};

bool operator==(const SparsityParams &a, const SparsityParams &b);
bool operator!=(const SparsityParams &a, const SparsityParams &b);
bool operator<(const SparsityParams &a, const SparsityParams &b);
std::ostream &operator<<(std::ostream &stream, const SparsityParams &params);

} // namespace dynamic
} // namespace popsparse
