// The first part of Adam's step: the direction that the weight goes against.
#pragma once

#include <popart/adam.hpp>
#include <popart/op/builtin.hpp>
#include <popart/optimizervalue.hpp>

namespace popart {

class AdamUpdaterOp : public Op {
public:
  AdamUpdaterOp(AdamMode adamMode, OptimizerValue weightDecay,
                OptimizerValue beta1, OptimizerValue beta2, OptimizerValue eps,
                const Op::Settings &settings)
      : Op(OperatorIdentifier("aspen", "AdamUpdater"),
           OperatorIdentifier("aspen", "AdamUpdater"), settings,
           Attributes()
               .set("mode", static_cast<Attributes::Int>(adamMode))
               .set("wd", weightDecay.val())
               .set("b1", beta1.val())
               .set("b2", beta2.val())
               .set("eps", eps.val())),
        mode(adamMode), initWd(weightDecay), initB1(beta1), initB2(beta2),
        initEps(eps) {}
  POPART_OP_CLASS(AdamUpdaterOp, Op)

  static InIndex getVarInIndex() { return 0; }
  static InIndex getAccl1InIndex() { return 1; }
  static InIndex getAccl2InIndex() { return 2; }
  static InIndex getStepInIndex() { return 3; } // steps before this one
  static InIndex getWdInIndex() { return 4; }
  static InIndex getBeta1InIndex() { return 5; }
  static InIndex getBeta2InIndex() { return 6; }
  static InIndex getEpsInIndex() { return 7; }
  static OutIndex getUpdaterOutIndex() { return 0; }

  bool isOptimizerOp() const override { return true; }
  std::set<InIndex> optionalInputs() const override {
    return {0, 3, 4, 5, 6, 7};
  }

  AdamMode mode = AdamMode::Adam;
  OptimizerValue initWd;
  OptimizerValue initB1;
  OptimizerValue initB2;
  OptimizerValue initEps;
};

} // namespace popart
