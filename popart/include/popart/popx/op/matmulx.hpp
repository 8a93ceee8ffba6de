// How matrix products are lowered is in their rule (popart/src/ops/MatMul.cpp);
// what programs use of the class that PopART has for it.
#pragma once

#include <popart/op/matmul.hpp>
#include <popart/popx/opx.hpp>

#include <poplar/OptionFlags.hpp>

namespace popart {
namespace popx {

class MatMulOpx : public Opx {
public:
  MatMulOpx(Op *op, Devicex *devicex);

  void grow(poplar::program::Sequence &program) const override;

  static std::vector<std::size_t> onnxShapeToPoplar(const Shape &shape);
  // What the operator says of its memory and its partials.
  static void appendPoplarOptionsForOp(const MatMulBaseOp &op,
                                       poplar::OptionFlags &options);
  static void addPartialsType(const MatMulPartialsType &type,
                              poplar::OptionFlags &options);
};

} // namespace popx
} // namespace popart
