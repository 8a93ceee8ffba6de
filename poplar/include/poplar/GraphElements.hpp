// Small handles to things that a Graph owns.
#pragma once

#include <limits>

namespace poplar {

class ComputeSet {
public:
  ComputeSet() = default;
  explicit ComputeSet(unsigned id) : id_(id) {}
  unsigned getId() const { return id_; }

  friend bool operator==(ComputeSet a, ComputeSet b) { return a.id_ == b.id_; }
  friend bool operator!=(ComputeSet a, ComputeSet b) { return !(a == b); }
  friend bool operator<(ComputeSet a, ComputeSet b) { return a.id_ < b.id_; }

private:
  unsigned id_ = std::numeric_limits<unsigned>::max();
};

} // namespace poplar
