// Cycles of the element-wise vertices: unary (section 8.1), binary (8.2) and,
// by inclusion, broadcasts (8.3) and casts (8.4). n counts the elements on the
// tile, in a 2D vertex those of each run.
#pragma once

#include <kernels/Expression.hpp>
#include <kernels/cost/Broadcast.hpp>
#include <kernels/cost/Cast.hpp>
#include <kernels/cost/Tile.hpp>

#include <optional>
#include <string_view>

namespace kernels::cost {

// An inner loop: `cycles` for each group of `elements`.
struct LoopCost {
  std::uint32_t cycles = 8;
  std::uint32_t elements = 1;
  // Cycles grow with every element of the last group instead of by groups.
  bool isProportional = false;

  Cycles of(std::uint64_t n) const {
    return isProportional ? cycles * (n + elements - 1) / elements
                          : ceilDiv(n, elements) * cycles;
  }
  friend bool operator==(const LoopCost &, const LoopCost &) = default;
};

// Reads the cost text of ElementwiseOps.def, such as "F12/2>10/2 H6/4 I6/1";
// nothing when it has no figure for the type. U, LL, S and B stand for the
// unsigned, 64-bit, 16-bit and 8-bit types; U without a figure costs as I.
std::optional<LoopCost> parseLoopCost(std::string_view text, DataType type,
                                      bool inPlace);

// The operator's loop; for a type without a figure, a compiled C++ loop of 8
// worker cycles an element (section 8.14).
LoopCost loopCost(const ElementwiseOpInfo &op, DataType type, bool inPlace);

Cycles unaryOp1D(const TileSpec &tile, const ElementwiseOpInfo &op,
                 DataType type, std::uint64_t n, bool inPlace);
Cycles binaryOp1D(const TileSpec &tile, const ElementwiseOpInfo &op,
                  DataType type, std::uint64_t n, bool inPlace);
// Worker vertices over `regions` runs.
Cycles unaryOp2D(const TileSpec &tile, const ElementwiseOpInfo &op,
                 DataType type, std::uint64_t regions, std::uint64_t n,
                 bool inPlace);
Cycles binaryOp2D(const TileSpec &tile, const ElementwiseOpInfo &op,
                  DataType type, std::uint64_t regions, std::uint64_t n,
                  bool inPlace);
// Select, clamp and other three-operand vertices, 2D form on one tile.
Cycles ternaryOp2D(const TileSpec &tile, DataType type, std::uint64_t n,
                   bool isClamp);
// One generated vertex for a whole expression: every operator's loop, one set
// of loads and stores.
Cycles mapFused(const TileSpec &tile, const Expression &expression,
                DataType type, std::uint64_t n);

} // namespace kernels::cost
