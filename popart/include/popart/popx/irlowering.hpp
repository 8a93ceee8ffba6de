// The Poplar graph that a model is being lowered to.
#pragma once

namespace poplar {
class Graph;
} // namespace poplar

namespace popart {

class Ir;
class LoweringContext; // popart/src/lowering/LoweringContext.hpp

namespace popx {

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
