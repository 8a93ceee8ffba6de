// The Poplar graph that a model is being lowered to.
#pragma once

#include <popart/tensorinfo.hpp>

#include <poplar/Type.hpp>

namespace poplar {
class Graph;
} // namespace poplar

namespace popart {

class Ir;
class LoweringContext; // popart/src/lowering/LoweringContext.hpp

namespace popx {

// The element type that a device has for this one.
poplar::Type popType(const TensorInfo &info);
poplar::Type popType(DataType type);

class IrLowering {
public:
  IrLowering(LoweringContext &context, const Ir &ir)
      : context_(&context), ir_(&ir) {}

  poplar::Graph &graph() const; // of all IPUs
  const Ir &ir() const { return *ir_; }

private:
  friend class Opx;
  LoweringContext *context_;
  const Ir *ir_;
};

} // namespace popx
} // namespace popart
