// What the operands of a matrix product must be like.
#pragma once

#include <cstddef>
#include <vector>

namespace poplin::internal {

// Whether a product is one of matrices or one for each of a group.
enum class MatMulForm { Single, Grouped };

// Throws poplibs_error in the documented words.
void checkMatMulShapes(MatMulForm form, const std::vector<std::size_t> &a,
                       const std::vector<std::size_t> &b);

std::vector<std::size_t> matMulOutputShape(std::vector<std::size_t> a,
                                           const std::vector<std::size_t> &b);

} // namespace poplin::internal
