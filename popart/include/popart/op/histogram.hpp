// How many elements are below the first level, between each and the next, and
// from the last on.
#pragma once

#include <popart/op/builtin.hpp>

namespace popart {

class HistogramOp : public Op {
public:
  HistogramOp(const OperatorIdentifier &opid, const std::vector<float> &levels,
              bool absoluteOfInput, const Op::Settings &settings)
      : Op(opid, OperatorIdentifier("aspen", "Histogram"), settings,
           Attributes()
               .set("levels", levels)
               .set("absoluteOfInput", Attributes::Int{absoluteOfInput})) {}
  POPART_OP_CLASS(HistogramOp, Op)

  static InIndex getInIndex() { return 0; }
  static OutIndex getOutIndex() { return 0; }

  std::vector<float> getLevels() const {
    return attributes.getFloats("levels", {});
  }
  bool getAbsoluteOfInput() const {
    return attributes.getInt("absoluteOfInput", 0) != 0;
  }
};

} // namespace popart
