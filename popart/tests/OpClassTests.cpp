// Operations as objects of C++ classes: which class each operator has, what
// getters say against what the graph was made with, and classes that patterns
// make by themselves.
#include "Models.hpp"

#include <classes/Generated.hpp>
#include <ir/Verify.hpp>
#include <ops/OpRule.hpp>
#include <popart/error.hpp>
#include <popart/op/accumulate.hpp>
#include <popart/op/adamupdater.hpp>
#include <popart/op/adamvarupdate.hpp>
#include <popart/op/add.hpp>
#include <popart/op/clip.hpp>
#include <popart/op/collectives/replicatedallgather.hpp>
#include <popart/op/collectives/replicatedallreduce.hpp>
#include <popart/op/collectives/replicatedreducescatter.hpp>
#include <popart/op/conv.hpp>
#include <popart/op/detach.hpp>
#include <popart/op/div.hpp>
#include <popart/op/dropout.hpp>
#include <popart/op/equal.hpp>
#include <popart/op/gather.hpp>
#include <popart/op/groupnorm.hpp>
#include <popart/op/histogram.hpp>
#include <popart/op/identity.hpp>
#include <popart/op/l1.hpp>
#include <popart/op/lamb.hpp>
#include <popart/op/matmul.hpp>
#include <popart/op/mul.hpp>
#include <popart/op/nll.hpp>
#include <popart/op/relu.hpp>
#include <popart/op/reshape.hpp>
#include <popart/op/sgd0varupdate.hpp>
#include <popart/op/sgd1varupdate.hpp>
#include <popart/op/slice.hpp>
#include <popart/op/softmax.hpp>
#include <popart/op/subtract.hpp>
#include <popart/op/sum.hpp>
#include <popart/op/tiedgather.hpp>
#include <popart/op/transpose.hpp>
#include <popart/opmanager.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <typeinfo>

namespace popart::tests {
namespace {

const Op::Settings place(Graph &graph) {
  return Op::Settings(graph, "made");
}

TEST(OpClass, EveryOperatorIsCopiedAsWhatItIs) {
  Ir ir;
  Graph &graph = ir.getMainGraph();
  Attributes attributes;
  attributes.set("axis", Attributes::Int{1}).set("ratio", 0.25f);
  for (const OpRule *rule : allOpRules()) {
    OperatorIdentifier opid(rule->domain, rule->type, 7);
    auto op = OpManager::createOp(opid, graph, place(graph), attributes);
    const Op &made = *op;
    auto copy = op->clone();
    const Op &copied = *copy;
    EXPECT_EQ(typeid(copied), typeid(made)) << rule->type;
    EXPECT_EQ(copy->opid, opid) << rule->type;
    EXPECT_EQ(copy->attributes, attributes) << rule->type;
    EXPECT_EQ(&copy->rule(), rule) << rule->type;
    EXPECT_TRUE(copy->inputs.empty() && copy->outputs.empty()) << rule->type;
  }
}

// A class by itself means what an operation of the graph means that is one.
template <typename OP, typename Base>
void checkRow(const char *domain, const char *type) {
  SCOPED_TRACE(type);
  Ir ir;
  Graph &graph = ir.getMainGraph();
  OperatorIdentifier opid(domain, type);
  const OpRule *rule = findOpRule(opid);
  ASSERT_NE(rule, nullptr);
  auto made = OpManager::createOp(opid, graph, place(graph));
  const Op &object = *made;
  EXPECT_EQ(typeid(object), typeid(OP));
  EXPECT_TRUE(made->isConvertibleTo<Base>());
  OP own(opid, place(graph));
  EXPECT_EQ(&own.rule(), rule);
  OP derived({"users", type}, place(graph));
  EXPECT_EQ(derived.builtInRule(), rule);
  EXPECT_NE(&derived.rule(), rule);
  auto copy = derived.clone();
  const Op &copied = *copy;
  EXPECT_EQ(typeid(copied), typeid(OP));
  EXPECT_EQ(copy->builtInRule(), rule);
  EXPECT_EQ(OP::getOutIndex(), 0);
}

TEST(OpClass, EveryRowOfTheTableHasItsClassAndItsMeaning) {
#define POPART_OPERATOR(CLASS, BASE, DOMAIN, TYPE, HEADER)                     \
  checkRow<CLASS, BASE>(DOMAIN, TYPE);
#include <popart/op/operators.def>
#undef POPART_OPERATOR
}

TEST(OpClass, VariantsMeanTheirOperators) {
  Ir ir;
  Graph &graph = ir.getMainGraph();
  for (const std::string &type : operatorVariants()) {
    auto op = OpManager::createOp({"ai.graphcore", type}, graph, place(graph));
    std::string of = type.substr(0, op->rule().type.size());
    // "SoftPlus" is ONNX's "Softplus", and so on.
    auto isSame = [](char a, char b) {
      return std::tolower(a) == std::tolower(b);
    };
    EXPECT_TRUE(std::equal(of.begin(), of.end(), op->rule().type.begin(),
                           op->rule().type.end(), isSame))
        << type << " means " << op->rule().type;
  }
}

template <typename OP>
OP &addAs(Graph &graph, const std::string &type,
          const std::vector<TensorId> &inputs,
          const Attributes &attributes = {},
          const std::string &domain = "ai.onnx") {
  Op &op = graph.addOp({domain, type, 7}, inputs, std::vector<TensorId>(),
                       attributes, Op::Settings());
  return dynamic_cast<OP &>(op);
}

class OpClasses : public ::testing::Test {
protected:
  OpClasses() : graph(ir.getMainGraph()) {
    x = graph.addStream("x", floats({2, 3, 4}));
    y = graph.addStream("y", floats({2, 3, 4}));
    w = addWeight(graph, "w", {4, 5}, 1);
  }

  Ir ir;
  Graph &graph;
  TensorId x, y, w;
};

TEST_F(OpClasses, HaveTheHierarchyThatPatternsAskFor) {
  Op &sum = addAs<AddOp>(graph, "Add", {x, y});
  EXPECT_TRUE(sum.isConvertibleTo<ElementWiseBinaryOp>());
  EXPECT_TRUE(sum.isConvertibleTo<ElementWiseBinaryBaseOp>());
  EXPECT_FALSE(sum.isConvertibleTo<SubtractOp>());
  Op &relu = addAs<ReluOp>(graph, "Relu", {x});
  EXPECT_TRUE(relu.isConvertibleTo<ElementWiseUnaryOp>());
  EXPECT_TRUE(addAs<SoftmaxOp>(graph, "Softmax", {x})
                  .isConvertibleTo<ElementWiseUnaryOp>());
  EXPECT_TRUE(addAs<Op>(graph, "Detach", {x}, {}, "ai.graphcore")
                  .isConvertibleTo<DetachOp>());
  EXPECT_TRUE(addAs<EqualOp>(graph, "Equal", {x, y})
                  .isConvertibleTo<BinaryComparisonOp>());
  Op &dropout = addAs<DropoutOp>(graph, "Dropout", {x});
  EXPECT_TRUE(dropout.isConvertibleTo<DropoutBaseOp>());
  EXPECT_TRUE(dropout.isConvertibleTo<RandomBaseOp>());
  EXPECT_TRUE(dropout.isConvertibleTo<ShapeOrLikeOp>());
  EXPECT_TRUE(
      addAs<MatMulOp>(graph, "MatMul", {x, w}).isConvertibleTo<MatMulBaseOp>());
  for (const char *type : {"Reshape", "Flatten", "Squeeze", "Unsqueeze"}) {
    Attributes attributes;
    attributes.set("shape", Shape{6, 4}).set("axes", Shape{});
    EXPECT_TRUE(addAs<ReshapeOp>(graph, type, {x}, attributes)
                    .isConvertibleTo<ReshapeBaseOp>())
        << type;
  }
  EXPECT_TRUE(
      addAs<SumOp>(graph, "Sum", {x, y, x}).isConvertibleTo<VariadicOp>());
  Attributes lambda;
  lambda.set("lambda", 0.5f);
  EXPECT_TRUE(addAs<L1Op>(graph, "L1loss", {x}, lambda, "ai.graphcore")
                  .isConvertibleTo<LossOp>());
}

TEST_F(OpClasses, SayWhatTheyWereMadeWith) {
  Attributes attributes;
  attributes.set("perm", Shape{2, 0, 1});
  auto &transpose = addAs<TransposeOp>(graph, "Transpose", {x}, attributes);
  EXPECT_EQ(transpose.getPerm(), (Shape{2, 0, 1}));
  EXPECT_EQ(transpose.generateReversePermutation(), (Shape{1, 2, 0}));
  EXPECT_EQ((addAs<TransposeOp>(graph, "Transpose", {x}).getPerm()),
            (Shape{2, 1, 0}));

  attributes = Attributes()
                   .set("starts", Shape{1, 0})
                   .set("ends", Shape{2, 2})
                   .set("axes", Shape{0, 2});
  auto &slice = addAs<SliceOp>(graph, "Slice", {x}, attributes);
  EXPECT_EQ(slice.getStarts(), (Shape{1, 0}));
  EXPECT_EQ(slice.getEnds(), (Shape{2, 2}));
  EXPECT_EQ(slice.getAxes(), (Shape{0, 2}));
  EXPECT_EQ(slice.getSteps(), (Shape{1, 1}));
  EXPECT_EQ(slice.inplacePriorityDefault().size(), 1u);

  TensorId i = graph.addStream("i", TensorInfo(DataType::INT32, {7}));
  auto &gather = addAs<GatherOp>(graph, "Gather", {x, i},
                                 Attributes().set("axis", Attributes::Int{-1}));
  EXPECT_EQ(gather.getAxis(), 2);
  EXPECT_EQ(gather.getGroupSize(), 1);
  EXPECT_EQ(gather.outShape(GatherOp::outIndex()), (Shape{2, 3, 7}));

  attributes = Attributes()
                   .set("__available_memory", 0.25f)
                   .set("__partials_type", std::string("half"))
                   .set("__serialize_matmul_mode", std::string("reducing_dim"))
                   .set("__serialize_matmul_factor", Attributes::Int{2});
  auto &product = addAs<MatMulOp>(graph, "MatMul", {x, w}, attributes);
  EXPECT_EQ(*product.getAvailableMemoryProportion(), 0.25f);
  EXPECT_EQ(product.getPartialsType(), MatMulPartialsType::HALF);
  EXPECT_EQ(product.getSerialiseSettings().mode,
            MatMulBaseOp::SerialiseSettings::Mode::ReducingDim);
  EXPECT_EQ(product.getSerialiseSettings().factor, 2u);
  EXPECT_FALSE(product.getOutputType());
  EXPECT_EQ(product.getExpandedLhsShape(), (Shape{2, 3, 4}));
  EXPECT_EQ(product.getExpandedRhsShape(), (Shape{1, 4, 5}));
  EXPECT_EQ(product.getExpandedOutShape(), (Shape{2, 3, 5}));
  EXPECT_EQ(product.lhsIn()->id, x);
  EXPECT_EQ(product.out()->info.shape(), (Shape{2, 3, 5}));

  auto &clip = addAs<ClipOp>(graph, "Clip", {x}, Attributes().set("max", 2.0f));
  EXPECT_EQ(clip.getClipMax(), 2.0f);
  EXPECT_TRUE(std::isinf(clip.getClipMin()));
  auto &softmax = addAs<SoftmaxOp>(graph, "Softmax", {x});
  EXPECT_EQ(softmax.getAxis(), 1);
  auto &dropout =
      addAs<DropoutOp>(graph, "Dropout", {x}, Attributes().set("ratio", 0.0f));
  EXPECT_EQ(dropout.getRatio(), 0.0f);
  EXPECT_TRUE(dropout.canBeReplacedByIdentity());
}

TEST_F(OpClasses, AreMadeByTheirConstructors) {
  auto settings = Op::Settings(graph, "made");
  auto *sum = graph.createConnectedOp<AddOp>(
      {{0, x}, {1, y}}, {{0, "sum"}}, OperatorIdentifier("ai.onnx", "Add", 7),
      settings);
  EXPECT_EQ(sum->outShape(0), (Shape{2, 3, 4}));
  auto *in = graph.createConnectedOp<AddLhsInplaceOp>({{0, x}, {1, y}},
                                                      {{0, "sum2"}}, settings);
  EXPECT_EQ(in->opid.type, "AddLhsInplace");
  EXPECT_TRUE(in->modifiesIndex(0) && !in->modifiesIndex(1));
  auto *slice = graph.createConnectedOp<SliceOp>(
      {{0, x}}, {{0, "slice"}}, OperatorIdentifier("ai.onnx", "Slice", 1),
      Shape{1}, Shape{3}, Shape{2}, settings);
  EXPECT_EQ(slice->outShape(0), (Shape{2, 3, 2}));
  auto *reshape = graph.createConnectedOp<ReshapeOp>(
      {{0, x}}, {{0, "reshape"}}, OperatorIdentifier("ai.onnx", "Reshape", 5),
      Shape{0, -1}, settings);
  EXPECT_EQ(reshape->outShape(0), (Shape{2, 12}));
  auto *product = graph.createConnectedOp<MatMulOp>(
      {{0, x}, {1, w}}, {{0, "product"}},
      OperatorIdentifier("ai.onnx", "MatMul", 9), settings,
      optional<float>(0.3f), MatMulBaseOp::SerialiseSettings(),
      OptionalDataType());
  EXPECT_EQ(product->outShape(0), (Shape{2, 3, 5}));
  EXPECT_EQ(*product->getAvailableMemoryProportion(), 0.3f);
  auto *histogram = graph.createConnectedOp<HistogramOp>(
      {{0, x}}, {{0, "histogram"}},
      OperatorIdentifier("ai.graphcore", "Histogram", 1),
      std::vector<float>{0.0f, 1.0f}, false, settings);
  EXPECT_EQ(histogram->outInfo(0), TensorInfo(DataType::UINT32, {3}));
  verifyGraph(graph);
}

// A variant is asked for before the operator is connected, too.
TEST_F(OpClasses, GiveTheirVariants) {
  auto settings = Op::Settings(graph, "made");
  TransposeOp transpose(OperatorIdentifier("ai.onnx", "Transpose", 1),
                        Shape{0, 2, 1}, settings);
  auto variant =
      transpose.getInplaceVariant({"ai.graphcore", "TransposeInplace"});
  ASSERT_TRUE(variant->isConvertibleTo<TransposeInplaceOp>());
  Op *op = variant.get();
  graph.moveIntoGraph(std::move(variant));
  op->connectInTensor(0, x);
  op->createAndConnectOutTensor(0, "turned");
  op->setup();
  EXPECT_EQ(op->outShape(0), (Shape{2, 4, 3}));
  EXPECT_THROW(transpose.getInplaceVariant({"ai.graphcore", "Other"}), error);
}

TEST_F(OpClasses, SparseAccumulationAddsRowsAndNoMore) {
  auto settings = Op::Settings(graph, "made");
  using Type = AccumulationType;
  for (Type type : {Type::Add, Type::DampenedAdd}) {
    EXPECT_TRUE(SparseAccumulateOp::supportsAccumulationType(type));
    EXPECT_EQ(SparseAccumulateOp(type, 0.5f, 1, settings).getAxis(), 1u);
  }
  EXPECT_THROW(SparseAccumulateOp(Type::Mean, 1.0f, 0, settings), error);
}

TEST(LossOp, NamesReductions) {
  for (ReductionType type :
       {ReductionType::Sum, ReductionType::Mean, ReductionType::NoReduction}) {
    EXPECT_EQ(
        LossOp::reductionTypeFromString(LossOp::reductionTypeToString(type)),
        type);
  }
  EXPECT_EQ(LossOp::reductionTypeToString(ReductionType::NoReduction),
            "NoReduction");
  EXPECT_THROW(LossOp::reductionTypeFromString("max"), error);
}

} // namespace
} // namespace popart::tests
