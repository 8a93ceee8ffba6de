// How a matrix product is cut into pieces that run one after another, as the
// attributes of setSerializeMatMul say.
#pragma once

#include <popart/attributes.hpp>

#include <cstdint>
#include <optional>

namespace popart {

// Of the product a b: a's rows, what is summed over, b's columns.
enum class MatMulDim { Rows, Reduced, Columns };

struct MatMulSerialization {
  MatMulDim dim = MatMulDim::Rows;
  std::int64_t factor = 0;     // pieces
  bool keepsPrecision = false; // sums of pieces are FLOAT
};

// What a product's attributes say; none where it stays whole.
std::optional<MatMulSerialization>
serializationOf(const Attributes &attributes);

// Of a piece.
void removeSerialization(Attributes &attributes);

// The `attributes` of a gradient's product, with the forward product's
// serialization: its dimensions are these of the gradient's, in their order.
Attributes withSerializationOf(const Attributes &forward,
                               const MatMulDim (&dims)[3],
                               Attributes attributes);

} // namespace popart
