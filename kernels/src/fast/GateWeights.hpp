// The weights of a recurrent layer's gates in the panels that the loops of
// products read best, since a walk through time multiplies by them at every
// step: copied there once a call or, in Layout::StackedColumns16, found so.
#pragma once

#include <cstdint>

namespace kernels {

class GateWeights {
public:
  // Of weights [gates, in, out]: from `in` to `out` units or, `isBack`, by the
  // transposed ones from `out` to `in`.
  GateWeights(std::int64_t gates, std::int64_t in, std::int64_t out,
              bool isBack);

  std::int64_t floats() const { return gates_ * gateFloats_; } // of panels
  void pack(const float *weights, float *panels) const;

  // Rows of `a` and `y` of a first gate, and how far apart those of two gates
  // are: 0 where all have the same rows of `a`, or are added up in `y`.
  struct Rows {
    const float *a;
    std::int64_t aRow, aGate;
    float *y;
    std::int64_t yRow, yGate;
    std::int64_t count;
    bool isAdded; // to what is in y
  };
  void multiply(const float *panels, const Rows &rows) const; // by all gates
  // By one gate; of aGate and yGate nothing is read.
  void multiplyGate(const float *panels, std::int64_t gate,
                    const Rows &rows) const;

private:
  std::int64_t gates_, in_, out_;
  bool isBack_;
  std::int64_t depth_, columns_; // of one gate's matrix
  std::int64_t gateFloats_;
};

} // namespace kernels
