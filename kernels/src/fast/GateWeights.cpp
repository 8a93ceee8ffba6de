#include "GateWeights.hpp"

#include "loops/Loops.hpp"

#include <algorithm>

namespace kernels {

namespace {

constexpr std::int64_t panelColumns = 16;

} // namespace

GateWeights::GateWeights(std::int64_t gates, std::int64_t in, std::int64_t out,
                         bool isBack)
    : gates_(gates), in_(in), out_(out), isBack_(isBack),
      depth_(isBack ? out : in), columns_(isBack ? in : out) {
  const auto panels = (columns_ + panelColumns - 1) / panelColumns;
  gateFloats_ = panels * panelColumns * depth_;
}

void GateWeights::pack(const float *weights, float *panels) const {
  const auto &loops = selectedLoops().product;
  for (std::int64_t gate = 0; gate < gates_; ++gate) {
    const float *from = weights + gate * in_ * out_;
    float *to = panels + gate * gateFloats_;
    if (!isBack_) {
      loops.pack(to, panelColumns, from, out_, depth_, columns_);
      continue;
    }
    for (std::int64_t column = 0; column < columns_; column += panelColumns) {
      loops.transpose(to + column * depth_, panelColumns, from + column * out_,
                      out_, std::min(panelColumns, columns_ - column), depth_);
    }
  }
}

void GateWeights::multiply(const float *panels, const Rows &rows) const {
  // Rows of `a` that stay in the cache while all gates read them.
  constexpr std::int64_t blockRows = 96;
  Rows block = rows;
  for (std::int64_t row = 0; row < rows.count; row += block.count) {
    block.count = std::min(blockRows, rows.count - row);
    for (std::int64_t gate = 0; gate < gates_; ++gate) {
      block.a = rows.a + row * rows.aRow + gate * rows.aGate;
      block.y = rows.y + row * rows.yRow + gate * rows.yGate;
      block.isAdded = rows.isAdded || (gate > 0 && rows.yGate == 0);
      multiplyGate(panels, gate, block);
    }
  }
}

void GateWeights::multiplyGate(const float *panels, std::int64_t gate,
                               const Rows &rows) const {
  ProductLoops::Matrices m{};
  m.rows = rows.count;
  m.depth = depth_;
  m.a = rows.a;
  m.aRow = rows.aRow;
  m.aDepth = 1;
  m.bRow = panelColumns;
  m.bVector = panelColumns * depth_;
  m.yRow = rows.yRow;
  m.isAdded = rows.isAdded;
  const auto together = selectedLoops().product.panelColumns;
  for (std::int64_t column = 0; column < columns_; column += together) {
    m.columns = std::min(together, columns_ - column);
    m.b = panels + gate * gateFloats_ + column * depth_;
    m.y = rows.y + column;
    selectedLoops().product.multiply(m);
  }
}

} // namespace kernels
