// The graph by the names that patterns and custom operators know it by.
#include "Models.hpp"

#include <ir/Verify.hpp>
#include <popart/error.hpp>
#include <popart/formattext.hpp>
#include <popart/graphutils.hpp>
#include <popart/op/add.hpp>
#include <popart/op/mul.hpp>
#include <popart/op/relu.hpp>
#include <popart/util.hpp>

#include <gtest/gtest.h>

#include <sstream>

namespace popart::tests {
namespace {

using graphutils::TraversalDirection;
using graphutils::TraversalType;
using graphutils::VisitType;

// a, b -> sum -> relu -> product with b
class GraphView : public ::testing::Test {
protected:
  GraphView() : graph(ir.getMainGraph()) {
    a = graph.addStream("a", floats({2}));
    b = addWeight(graph, "b", {2}, 1);
    sum = add(graph, "Add", {a, b});
    relu = add(graph, "Relu", {sum});
    product = add(graph, "Mul", {relu, b});
  }

  Op &maker(const TensorId &id) { return *graph.getTensor(id).getProducer(); }

  Ir ir;
  Graph &graph;
  TensorId a, b, sum, relu, product;
};

TEST_F(GraphView, FindsNeighbours) {
  EXPECT_EQ(maker(relu).getPrecedingOp<AddOp>(0), &maker(sum));
  EXPECT_EQ(maker(sum).getFollowingOp<ReluOp>(), &maker(relu));
  EXPECT_THROW(maker(sum).getFollowingOp<MulOp>(), internal_error);
  EXPECT_THROW(maker(product).getFollowingOp<Op>(), internal_error);
  EXPECT_EQ(maker(relu).getFollowingOps<MulOp>().size(), 1u);
  EXPECT_TRUE(maker(sum).isParentOf(&maker(relu)));
  EXPECT_TRUE(maker(relu).isChildOf(&maker(sum)));
  EXPECT_EQ(maker(product).inIndex(&graph.getTensor(b)), 1);
  EXPECT_THROW(maker(relu).inIndex(&graph.getTensor(b)), error);
}

TEST_F(GraphView, CountsConsumers) {
  add(graph, "Mul", {b, b});
  const Consumers &consumers = graph.getTensor(b).consumers;
  EXPECT_EQ(consumers.getTotal(), 4);
  ASSERT_EQ(consumers.getOps().size(), 3u);
  EXPECT_EQ(consumers.n(consumers.getOps()[2]), 2);
  EXPECT_EQ(graph.getTensor(b).associatedOps().size(), 3u);
}

TEST_F(GraphView, TellsWhatTensorsAre) {
  EXPECT_TRUE(graph.getTensor(b).isWeightTensor());
  EXPECT_FALSE(graph.getTensor(a).isWeightTensor());
  EXPECT_EQ(graph.getTensor(a).tensor_type(), "Stream");
  EXPECT_THROW(graph.getTensor(a).getProducer(), error);
  EXPECT_EQ(graph.getTensor(a).getProducerUnsafe(), nullptr);
  EXPECT_THROW(graph.getTensor(a).tensorData(), error);
  ir.dataFlow = DataFlow(1, std::vector<TensorId>{relu});
  EXPECT_TRUE(graph.getTensor(relu).isAnchored());
  EXPECT_EQ(&graph.getTensor(a).getIr(), &ir);
}

TEST_F(GraphView, HoldsTensorsByName) {
  Tensors &tensors = graph.getTensors();
  EXPECT_EQ(tensors.n(), 5u);
  EXPECT_EQ(tensors.getIds(TensorType::Variable), (std::vector<TensorId>{b}));
  EXPECT_EQ(tensors.getNoProducerIds(), (std::vector<TensorId>{a, b}));
  float two = 2.0f;
  tensors.addConstInit("two", floats({}), &two);
  EXPECT_EQ(tensors.get("two")->type, TensorType::Const);
  tensors.remove("two");
  EXPECT_FALSE(tensors.contains("two"));
  EXPECT_THROW(tensors.remove(sum), error);
  EXPECT_THROW(tensors.get("two"), error);
}

TEST_F(GraphView, WalksInTheOrderThatIsAskedFor) {
  auto walk = [&](const TensorId &from, TraversalType type, VisitType visit,
                  TraversalDirection direction) {
    std::vector<TensorId> seen;
    graphutils::traverse(
        {&graph.getTensor(from)},
        [&](Tensor *t) {
          seen.push_back(t->id);
          return true;
        },
        [](Op *, Tensor *, Tensor *) { return true; }, type, visit, direction);
    return seen;
  };
  EXPECT_EQ(walk(a, TraversalType::DepthFirst, VisitType::Pre,
                 TraversalDirection::Forward),
            (std::vector<TensorId>{a, sum, relu, product}));
  EXPECT_EQ(walk(a, TraversalType::DepthFirst, VisitType::Post,
                 TraversalDirection::Forward),
            (std::vector<TensorId>{product, relu, sum, a}));
  EXPECT_EQ(walk(product, TraversalType::BreadthFirst, VisitType::Pre,
                 TraversalDirection::Backward),
            (std::vector<TensorId>{product, relu, b, sum, a}));
  std::vector<Tensor *> roots = graphutils::rootTensors(&graph.getTensor(relu));
  EXPECT_EQ(roots.size(), 2u);
}

TEST_F(GraphView, StopsWhereTheVisitorOrTheFilterSays) {
  std::vector<TensorId> seen;
  graphutils::traverse(
      {&graph.getTensor(a)},
      [&](Tensor *t) {
        seen.push_back(t->id);
        return t->id != relu;
      },
      [](Op *op, Tensor *, Tensor *) {
        return !op->template isConvertibleTo<MulOp>();
      },
      TraversalType::BreadthFirst, VisitType::Pre, TraversalDirection::Forward);
  EXPECT_EQ(seen, (std::vector<TensorId>{a, sum, relu}));
}

TEST_F(GraphView, FindsOperationsByPredicatesAndEdges) {
  using graphutils::Edge;
  auto is = [](const char *type) {
    return [type](const Op *op) { return op->opid.type == type; };
  };
  auto matches =
      graphutils::findMatchingOps(graph, {is("Add"), is("Relu"), is("Mul")},
                                  {Edge(0, 1), Edge(1, 2, 0, 0)});
  ASSERT_EQ(matches.size(), 1u);
  EXPECT_EQ(matches[0],
            (std::vector<Op *>{&maker(sum), &maker(relu), &maker(product)}));
  EXPECT_TRUE(
      graphutils::findMatchingOps(graph, {is("Add"), is("Mul")}, {Edge(0, 1)})
          .empty());
  auto befores = graphutils::getOpsWithBefores({&maker(sum), &maker(product)});
  EXPECT_EQ(befores.at(&maker(product)), (std::vector<Op *>{&maker(sum)}));
}

TEST_F(GraphView, SchedulesByConstraints) {
  TensorId other = add(graph, "Relu", {a});
  std::vector<Op *> order = graph.getOpSchedule({}, RequireOptimalSchedule::No);
  EXPECT_EQ(order.back(), &maker(other));
  graph.topoCons->insert(&maker(other), &maker(sum));
  order = graph.getOpSchedule({}, RequireOptimalSchedule::Yes);
  EXPECT_EQ(order.front(), &maker(other));
  graph.topoCons->transfer(&maker(other), &maker(relu));
  EXPECT_TRUE(graph.topoCons->contains(&maker(relu), &maker(sum)));
  EXPECT_FALSE(graph.topoCons->hasConstraint(&maker(other)));
  EXPECT_THROW(graph.getOpSchedule({}, RequireOptimalSchedule::No), error);
  graph.topoCons->remove(&maker(relu));
  EXPECT_TRUE(graph.topoCons->empty());
}

TEST_F(GraphView, RefusesConnectionsThatAreTaken) {
  EXPECT_THROW(maker(relu).connectInTensor(0, a), error);
  EXPECT_THROW(maker(relu).connectOutTensor(0, sum), internal_error);
  EXPECT_THROW(graph.eraseOp(12345), internal_error);
  EXPECT_THROW(graph.getOp(12345), error);
  EXPECT_EQ(graph.getOpUnsafe(12345), nullptr);
}

TEST(TensorInfoText, IsReadAndWritten) {
  TensorInfo info("FLOAT16", "(2, 3)");
  EXPECT_EQ(info, TensorInfo(DataType::FLOAT16, {2, 3}));
  std::ostringstream out;
  out << info << ' ' << DataType::INT32;
  EXPECT_EQ(out.str(), "FLOAT16 [2 3] INT32");
  info.set(DataType::FLOAT);
  EXPECT_EQ(info.shape(), (Shape{2, 3}));
  info.set(DataType::INT32, {4});
  EXPECT_EQ(info, TensorInfo("INT32", {4}));
  EXPECT_EQ(info.shape_szt(), (std::vector<std::size_t>{4}));
  EXPECT_THROW(info.dim(1), error);
  EXPECT_THROW(TensorInfo("FLOAT", "2x3"), error);
  EXPECT_TRUE(info.getDataTypeInfo().isFixedPoint());
  EXPECT_EQ(getDataType<float>(), DataType::FLOAT);
  EXPECT_FALSE(TensorInfo().isSet());
}

TEST(ShapeArithmetic, IsNumPys) {
  EXPECT_EQ(npOut({4, 1, 3}, {2, 1}), (Shape{4, 2, 3}));
  EXPECT_FALSE(npBroadcastable({2}, {3}));
  EXPECT_THROW(npOut(Shape{2}, Shape{3}, "op"), error);
  EXPECT_EQ(npReductionAxis({2, 1}, {4, 2, 3}), (Shape{0, 2}));
  EXPECT_EQ(squeeze({1, 2, 1}), (Shape{2}));
  EXPECT_EQ(squeeze({1, 2, 1}, {0}), (Shape{2, 1}));
  EXPECT_THROW(squeeze({1, 2}, {1}), error);
  EXPECT_EQ(unsqueeze({2, 3}, {0, 2}), (Shape{1, 2, 1, 3}));
  EXPECT_THROW(unsqueeze({2}, {1, 0}), error);
}

TEST(FormatText, PrintsLists) {
  std::map<int, std::vector<float>> map = {{1, {0.5f, 2.0f}}};
  EXPECT_EQ(formatText("{} {} {}", Shape{1, 2}, map, std::make_pair(1, "a")),
            "[1 2] {(1, [0.5 2])} (1, a)");
  EXPECT_EQ((vXtoY<std::int64_t, std::size_t>({1, 2})),
            (std::vector<std::size_t>{1, 2}));
}

TEST(Optional, HasAValueOrNone) {
  nonstd::optional<std::string> text;
  EXPECT_FALSE(text.has_value());
  EXPECT_THROW(text.value(), nonstd::bad_optional_access);
  EXPECT_EQ(text.value_or("none"), "none");
  text = std::string("some");
  nonstd::optional<std::string> copy = text;
  text = nonstd::nullopt;
  EXPECT_FALSE(text);
  EXPECT_EQ(copy->size(), 4u);
  EXPECT_EQ(nonstd::make_optional(3), nonstd::optional<int>(3));
}

} // namespace
} // namespace popart::tests
