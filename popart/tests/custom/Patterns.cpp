// What users' patterns do, written as they are: built-in classes that they look
// for, operators that they make, and operators of their own in the place of
// several; and an update.
#include <popart/graphcoreoperators.hpp>
#include <popart/graphutils.hpp>
#include <popart/ir.hpp>
#include <popart/op.hpp>
#include <popart/op/accumulate.hpp>
#include <popart/op/add.hpp>
#include <popart/op/clip.hpp>
#include <popart/op/dropout.hpp>
#include <popart/op/elementwise.hpp>
#include <popart/op/matmul.hpp>
#include <popart/op/mul.hpp>
#include <popart/op/relu.hpp>
#include <popart/op/sgd0varupdate.hpp>
#include <popart/op/transpose.hpp>
#include <popart/op/varupdate.hpp>
#include <popart/operators.hpp>
#include <popart/opmanager.hpp>
#include <popart/patterns/pattern.hpp>
#include <popart/patterns/patterns.hpp>
#include <popart/popx/opx.hpp>
#include <popart/popx/opxmanager.hpp>
#include <popart/tensors.hpp>
#include <popart/topocons.hpp>

#include <popops/ElementWise.hpp>
#include <popops/ElementWiseUtil.hpp>

#include <limits>

using namespace popart;
using namespace popart::popx;
using namespace popops::expr;

namespace CustomOperators {
const popart::OperatorIdentifier ExpMovAvg = {"extensions", "ExpMovAvg", 1};
const popart::OperatorIdentifier AddRelu = {"extensions", "AddRelu", 1};
const popart::OperatorIdentifier Decay = {"extensions", "Decay", 1};
const popart::OperatorIdentifier Twice = {"extensions", "Twice", 1};
} // namespace CustomOperators
namespace CustomGradOperators {
const popart::OperatorIdentifier AddReluGrad = {"extensions", "AddReluGrad", 1};
} // namespace CustomGradOperators

namespace {

// What it says of an average becomes an update of it, once per weight update.
class ExpMovAvgOp : public Op {
public:
  ExpMovAvgOp(const OperatorIdentifier &opid, const Op::Settings &settings)
      : Op(opid, settings) {}
  std::unique_ptr<Op> clone() const override {
    return std::make_unique<ExpMovAvgOp>(*this);
  }
  void setup() final { outInfo(0) = inInfo(1); }
  float getSubgraphValue() const final { return getLowSubgraphValue(); }
  bool hasSideEffect() const override { return true; }
};

class ExpMovAvgPattern : public PreAliasPattern {
public:
  bool matches(Op *op) const override {
    return op->isConvertibleTo<ExpMovAvgOp>();
  }
  std::vector<const Tensor *> touches(Op *) const override { return {}; }
  bool apply(Op *op) const override {
    Graph &graph = op->getGraph();
    TensorId weight = op->inId(0);
    TensorId average = op->inId(1);
    TensorId factor = op->inId(2);
    TensorId out = op->outId(0);
    auto update = std::make_unique<AccumulateOp>(
        AccumulationType::MovingAverage, OptimizerValue(0, false),
        Op::Settings(graph, op->name() + "_accumulate"));
    auto *accumulate = update.get();
    transferBaseProperties(op, accumulate);
    graph.moveIntoGraph(std::move(update));
    op->disconnectAllInputs();
    op->disconnectAllOutputs();
    accumulate->connectInTensor(AccumulateOp::getVarToUpdateInIndex(), average);
    accumulate->connectInTensor(VarUpdateWithUpdaterOp::getUpdaterInIndex(),
                                weight);
    accumulate->connectInTensor(AccumulateOp::getFactorInIndex(), factor);
    accumulate->connectOutTensor(AccumulateOp::getUpdatedVarOutIndex(), out);
    accumulate->settings.executionContext =
        ExecutionContext::AccumulateOuterFragment;
    accumulate->settings.schedulePriority =
        std::numeric_limits<double>::lowest();
    accumulate->setup();
    graph.topoCons->transfer(op, accumulate);
    graph.eraseOp(op->id);
    return true;
  }
};

OpCreator<ExpMovAvgOp> expMovAvgCreator({{CustomOperators::ExpMovAvg, {}}},
                                        true);
PatternCreator<ExpMovAvgPattern> expMovAvgPattern("ExpMovAvgPattern", true);

// max(a + b, 0), in the place of an Add and the Relu that alone reads it.
class AddReluGradOp : public Op {
public:
  AddReluGradOp(const Op &forward)
      : Op(CustomGradOperators::AddReluGrad, forward.getSettings()) {}
  std::unique_ptr<Op> clone() const final {
    return std::make_unique<AddReluGradOp>(*this);
  }
  void setup() final {
    outInfo(0) = inInfo(0);
    outInfo(1) = inInfo(0);
  }
  const std::vector<GradInOutMapper> &gradInputInfo() const final {
    static const std::vector<GradInOutMapper> inInfo = {
        {0, 0, GradOpInType::GradOut}, {1, 0, GradOpInType::Out}};
    return inInfo;
  }
  const std::map<int, int> &gradOutToNonGradIn() const final {
    static const std::map<int, int> outInfo = {{0, 0}, {1, 1}};
    return outInfo;
  }
};

class AddReluOp : public ElementWiseBinaryOp {
public:
  AddReluOp(const OperatorIdentifier &opid, const Op::Settings &settings)
      : ElementWiseBinaryOp(opid, settings) {}
  std::unique_ptr<Op> clone() const final {
    return std::make_unique<AddReluOp>(*this);
  }
  std::vector<std::unique_ptr<Op>> getGradOps() final {
    std::vector<std::unique_ptr<Op>> ops;
    ops.emplace_back(new AddReluGradOp(*this));
    return ops;
  }
};

class AddReluOpx : public Opx {
public:
  AddReluOpx(Op *op, Devicex *devicex) : Opx(op, devicex) {
    verifyOp<AddReluOp>(op, {CustomOperators::AddRelu});
  }
  void grow(poplar::program::Sequence &prog) const final {
    poplar::Tensor a = getInTensor(AddReluOp::getArg0InIndex());
    poplar::Tensor b = getInTensor(AddReluOp::getArg1InIndex());
    poplar::Tensor out = popops::createOutputForElementWiseOp(
        graph(), {a, b}, popType(outInfo(0)), debugContext("sum"));
    popops::mapWithOutput(graph(), Max(_1 + _2, Const(0.0f)), {a, b}, out, prog,
                          debugContext("addRelu"));
    setOutTensor(AddReluOp::getOutIndex(), out);
  }
};

class AddReluGradOpx : public Opx {
public:
  AddReluGradOpx(Op *op, Devicex *devicex) : Opx(op, devicex) {
    verifyOp<AddReluGradOp>(op);
  }
  void grow(poplar::program::Sequence &prog) const final {
    poplar::Tensor gradient =
        popops::map(graph(), Select(_1, Const(0.0f), Gt(_2, Const(0.0f))),
                    {getInTensor(0), getInTensor(1)}, prog, debugContext());
    setOutTensor(0, gradient);
    setOutTensor(1, cloneNcopy(prog, gradient, "second"));
  }
};

class AddReluPattern : public PreAliasPattern {
public:
  bool matches(Op *op) const override {
    if (!op->isConvertibleTo<AddOp>()) {
      return false;
    }
    const Tensor *sum = op->outTensor(AddOp::getOutIndex());
    return sum->consumers.getTotal() == 1 &&
           sum->consumers.getOps()[0]->isConvertibleTo<ReluOp>() &&
           op->inShape(0) == op->inShape(1);
  }
  std::vector<const Tensor *> touches(Op *op) const override {
    return {op->outTensor(0)};
  }
  bool apply(Op *op) const override {
    Graph &graph = op->getGraph();
    Op *relu = op->getFollowingOp<ReluOp>();
    TensorId out = relu->outId(0);
    Op *both = makeReplacementOpInIr(CustomOperators::AddRelu, op, "AddRelu");
    TensorId lhs = op->inId(0);
    TensorId rhs = op->inId(1);
    Tensor *sum = op->outTensor(0);
    op->disconnectAllInputs();
    relu->disconnectAllInputs();
    op->disconnectAllOutputs();
    relu->disconnectAllOutputs();
    both->connectInTensor(0, lhs);
    both->connectInTensor(1, rhs);
    both->connectOutTensor(0, out);
    both->setup();
    graph.eraseOp(op->id);
    graph.eraseOp(relu->id);
    graph.getTensors().remove(sum->id);
    return true;
  }
};

OpCreator<AddReluOp>
    addReluCreator(OpDefinitions({{CustomOperators::AddRelu, {}}}));
OpxCreator<AddReluOpx> addReluOpxCreator(CustomOperators::AddRelu);
OpxCreator<AddReluGradOpx>
    addReluGradOpxCreator(CustomGradOperators::AddReluGrad);
PatternCreator<AddReluPattern> addReluPattern("AddReluPattern", false);

// What residual connections of transformers ask for; without effect on values.
class ResidualAddInPlacePattern : public PreAliasPattern {
public:
  bool matches(Op *op) const override {
    if (!op->isConvertibleTo<AddOp>() ||
        !op->settings.inplacePriorityVeto.empty()) {
      return false;
    }
    const Tensor *arg = op->inTensor(AddOp::getArg0InIndex());
    return arg->hasProducer() &&
           arg->getProducer()->isConvertibleTo<DropoutBaseOp>();
  }
  std::vector<const Tensor *> touches(Op *) const override { return {}; }
  bool apply(Op *op) const override {
    op->settings.inplacePriorityVeto.push_back({"AddLhsInplace", 1000.f});
    return true;
  }
};
PatternCreator<ResidualAddInPlacePattern>
    residualPattern("ResidualAddInPlacePattern", true);

// Limits what plain SGD changes weights by.
class GradientClippingPattern : public PreAliasPattern {
public:
  bool matches(Op *op) const override {
    if (!op->isConvertibleTo<SGD0VarUpdateOp>()) {
      return false;
    }
    const Op *producer =
        op->inTensor(SGD0VarUpdateOp::getUpdaterInIndex())->getProducer();
    return !producer->isConvertibleTo<ClipOp>();
  }
  std::vector<const Tensor *> touches(Op *) const override { return {}; }
  bool apply(Op *op) const override {
    Graph &graph = op->getGraph();
    Tensor *updater = op->inTensor(SGD0VarUpdateOp::getUpdaterInIndex());
    TensorId clipped = graph.getIr().createIntermediateTensorId(updater->id);
    auto *clip = graph.createConnectedOp<ClipOp>(
        {{ClipOp::getInIndex(), updater->id}},
        {{ClipOp::getOutIndex(), clipped}}, Onnx::Operators::Clip_6, -5.0, 5.0,
        Op::Settings(graph, "clip"));
    transferBaseProperties(op, clip);
    clip->settings.executionContext = op->settings.executionContext;
    op->disconnectInTensor(updater);
    op->connectInTensor(SGD0VarUpdateOp::getUpdaterInIndex(), clipped);
    return true;
  }
};
PatternCreator<GradientClippingPattern>
    gradientClippingPattern("GradientClippingPattern", false);

// Becomes a product with a constant that the pattern makes.
class TwiceOp : public Op {
public:
  using Op::Op;
  std::unique_ptr<Op> clone() const final {
    return std::make_unique<TwiceOp>(*this);
  }
  void setup() final { outInfo(0) = inInfo(0); }
  float getSubgraphValue() const final { return getLowSubgraphValue(); }
};

class TwicePattern : public PreAliasPattern {
public:
  bool matches(Op *op) const override { return op->isConvertibleTo<TwiceOp>(); }
  std::vector<const Tensor *> touches(Op *) const override { return {}; }
  bool apply(Op *op) const override {
    Graph &graph = op->getGraph();
    TensorId two = op->getIr().createIntermediateTensorId("two");
    float value = 2.0f;
    graph.getTensors().addConstInit(two, {DataType::FLOAT, Shape{}}, &value);
    TensorId in = op->inId(0);
    TensorId out = op->outId(0);
    op->disconnectAllInputs();
    op->disconnectAllOutputs();
    auto *product = graph.createOp<MulOp>(
        Onnx::Operators::Mul_7,
        Op::Settings(graph, getReplacementOpName(op, "mul")));
    transferBaseProperties(op, product);
    product->connectInTensor(MulOp::getArg0InIndex(), in);
    product->connectInTensor(MulOp::getArg1InIndex(), two);
    product->connectOutTensor(MulOp::getOutIndex(), out);
    product->setup();
    graph.eraseOp(op->id);
    return true;
  }
};
OpCreator<TwiceOp> twiceCreator({{CustomOperators::Twice, {}}}, true);
PatternCreator<TwicePattern> twicePattern("TwicePattern");

// An update of the user's own: the variable shrinks by a factor of its input.
class DecayOp : public VarUpdateWithUpdaterOp {
public:
  DecayOp(const OperatorIdentifier &opid, const Op::Settings &settings)
      : VarUpdateWithUpdaterOp(opid, settings) {}
  std::unique_ptr<Op> clone() const final {
    return std::make_unique<DecayOp>(*this);
  }
  std::map<InIndex, TensorId> optimizerInputs() const final { return {}; }
  float getSubgraphValue() const final { return getLowSubgraphValue(); }
};

class DecayOpx : public Opx {
public:
  DecayOpx(Op *op, Devicex *devicex) : Opx(op, devicex) {
    verifyOp<DecayOp>(op, CustomOperators::Decay);
  }
  void grow(poplar::program::Sequence &prog) const final {
    const poplar::Tensor &variable =
        getInTensor(VarUpdateOp::getVarToUpdateInIndex());
    popops::mulInPlace(graph(), variable,
                       getInTensor(VarUpdateWithUpdaterOp::getUpdaterInIndex()),
                       prog, debugContext("decay"));
    setOutTensor(VarUpdateOp::getUpdatedVarOutIndex(), variable);
  }
};

OpCreator<DecayOp> decayCreator(OpDefinitions({{CustomOperators::Decay, {}}}));
OpxCreator<DecayOpx> decayOpxCreator(CustomOperators::Decay);

} // namespace
