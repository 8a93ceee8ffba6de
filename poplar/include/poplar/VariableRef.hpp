// A variable of a graph, and a run of its elements.
#pragma once

#include <poplar/Interval.hpp>

#include <limits>

namespace poplar {

class VariableRef {
public:
  VariableRef() = default;
  explicit VariableRef(unsigned id) : id_(id) {}
  unsigned getId() const { return id_; }

  friend bool operator==(VariableRef a, VariableRef b) {
    return a.id_ == b.id_;
  }
  friend bool operator!=(VariableRef a, VariableRef b) { return !(a == b); }
  friend bool operator<(VariableRef a, VariableRef b) { return a.id_ < b.id_; }

private:
  unsigned id_ = std::numeric_limits<unsigned>::max();
};

struct VariableInterval {
  VariableRef var;
  Interval interval;

  friend bool operator==(const VariableInterval &a, const VariableInterval &b) {
    return a.var == b.var && a.interval == b.interval;
  }
  friend bool operator!=(const VariableInterval &a, const VariableInterval &b) {
    return !(a == b);
  }
};

} // namespace poplar
