// Parts of a tensor.
#pragma once

#include <popart/op/builtin.hpp>

namespace popart {

// Where it starts, ends and so on is in the attributes, or in constant inputs.
class BaseSliceOp : public Op {
public:
  POPART_OP_CLASS(BaseSliceOp, Op)

  static InIndex getInIndex() { return 0; }
  static InIndex getStartsInIndex() { return 1; }
  static InIndex getEndsInIndex() { return 2; }
  static InIndex getAxesInIndex() { return 3; }
  static InIndex getStepsInIndex() { return 4; }
  static OutIndex getOutIndex() { return 0; }

  std::vector<std::int64_t> getStarts() const;
  std::vector<std::int64_t> getEnds() const;
  std::vector<std::int64_t> getAxes() const;
  std::vector<std::int64_t> getSteps() const;
  void setStarts(const std::vector<std::int64_t> &starts) {
    attributes.set("starts", starts);
  }
  void setEnds(const std::vector<std::int64_t> &ends) {
    attributes.set("ends", ends);
  }
  void setAxes(const std::vector<std::int64_t> &axes) {
    attributes.set("axes", axes);
  }
  void setSteps(const std::vector<std::int64_t> &steps) {
    attributes.set("steps", steps);
  }

protected:
  BaseSliceOp(const OperatorIdentifier &opid,
              const std::vector<std::int64_t> &starts,
              const std::vector<std::int64_t> &ends,
              const std::vector<std::int64_t> &axes,
              const std::vector<std::int64_t> &steps,
              const Op::Settings &settings);
};

class SliceOp : public BaseSliceOp {
public:
  SliceOp(const OperatorIdentifier &opid,
          const std::vector<std::int64_t> &starts,
          const std::vector<std::int64_t> &ends,
          const std::vector<std::int64_t> &axes,
          const std::vector<std::int64_t> &steps, const Op::Settings &settings)
      : BaseSliceOp(opid, starts, ends, axes, steps, settings) {}
  SliceOp(const OperatorIdentifier &opid,
          const std::vector<std::int64_t> &starts,
          const std::vector<std::int64_t> &ends,
          const std::vector<std::int64_t> &axes, const Op::Settings &settings)
      : BaseSliceOp(opid, starts, ends, axes, {}, settings) {}
  POPART_OP_CLASS(SliceOp, BaseSliceOp)

  std::vector<std::tuple<OperatorIdentifier, float>>
  inplacePriorityDefault() const override;
  std::unique_ptr<Op>
  getInplaceVariant(const OperatorIdentifier &opid) const override;
};

class SliceInplaceOp : public BaseSliceOp {
public:
  explicit SliceInplaceOp(const SliceOp &op)
      : BaseSliceOp(
            OperatorIdentifier("ai.graphcore", "SliceInplace", op.opid.version),
            op.getStarts(), op.getEnds(), op.getAxes(), op.getSteps(),
            op.getSettings()) {}
  POPART_OP_CLASS(SliceInplaceOp, BaseSliceOp)

  view::Regions aliases(InIndex in, OutIndex) const override {
    return uses(in);
  }
};

} // namespace popart
