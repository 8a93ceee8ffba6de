// What the lowerings of custom operators know of the device.
#pragma once

#include <popart/popx/irlowering.hpp>

#include <poplin/Convolution.hpp>
#include <poplin/MatMul.hpp>

namespace popart {
namespace popx {

class Devicex {
public:
  Devicex(LoweringContext &context, const Ir &ir) : lowering_(context, ir) {}

  // Plans of products, to be handed to poplin.
  poplin::matmul::PlanningCache matmulCache;
  poplin::PlanningCache convCache;

  IrLowering &lowering() { return lowering_; }
  const IrLowering &lowering() const { return lowering_; }
  const Ir &ir() const { return lowering_.ir(); }

private:
  IrLowering lowering_;
};

} // namespace popx
} // namespace popart
