// Control registers of the tiles: floating point exceptions and rounding. The
// host computes by IEEE rules whatever they say, so these functions change no
// result; a warning in the log says so. The engine options
// debug.floatPointOpException and debug.nanOverflowException do trap.
#pragma once

#include <poplar/DebugContext.hpp>
#include <poplar/Tensor.hpp>

namespace poplar {

class Graph;
namespace program {
class Sequence;
} // namespace program

struct FloatingPointBehaviour {
  FloatingPointBehaviour() = default;
  FloatingPointBehaviour(bool onInvalid, bool onDivideByZero, bool onOverflow,
                         bool stochasticRounding, bool nanOnOverflow)
      : inv(onInvalid), div0(onDivideByZero), oflo(onOverflow),
        esr(stochasticRounding), nanoo(nanOnOverflow) {}

  bool inv = true;   // exception on invalid operations
  bool div0 = true;  // exception on division by zero
  bool oflo = true;  // exception on overflow
  bool esr = true;   // stochastic rounding
  bool nanoo = true; // half overflow gives NaN

  FloatingPointBehaviour operator!() const {
    return FloatingPointBehaviour(!inv, !div0, !oflo, !esr, !nanoo);
  }
};

void setFloatingPointBehaviour(Graph &graph, program::Sequence &program,
                               const FloatingPointBehaviour &behaviour,
                               const DebugContext &debugContext = {});
// What getAndModifyFloatingPointBehaviour() returned.
void setFloatingPointBehaviour(Graph &graph, program::Sequence &program,
                               const Tensor &behaviour,
                               const DebugContext &debugContext = {});
// One UNSIGNED_INT for each tile, zero here.
Tensor
getAndModifyFloatingPointBehaviour(Graph &graph, program::Sequence &program,
                                   const FloatingPointBehaviour &clear,
                                   const FloatingPointBehaviour &set,
                                   const DebugContext &debugContext = {});
void setStochasticRounding(Graph &graph, program::Sequence &program,
                           bool enable, const DebugContext &debugContext = {});

} // namespace poplar
