// Costs of user vertices against figures worked out by hand.
#include "ModelGraph.hpp"

#include "model/MemoryUse.hpp"
#include "model/Timeline.hpp"
#include "model/VertexState.hpp"

#include <gtest/gtest.h>

namespace poplar::testing {
namespace {

using model::ExecutionCost;
using model::MemoryCategory;
using support::DataType;

constexpr std::uint64_t syncCycles = 126;
constexpr std::uint64_t routingCycles = 84;

// Eight tiles, and a type with one input and one output vector.
class ModelVertices : public ::testing::Test {
protected:
  ModelVertices() : ModelVertices(1) {}
  explicit ModelVertices(unsigned ipus) : graph_(smallTarget(ipus, 8)) {
    set_ = graph_.addComputeSet("set");
    type_ = graph_.addType(
        vertexType("Scale", {edge("in", EdgeDirection::Input),
                             edge("out", EdgeDirection::Output)}));
  }

  // A vertex with both edges at home on tile `home`.
  void addVertex(unsigned tile, unsigned home, std::int64_t elements,
                 std::uint64_t cycles) {
    const VariableId in = graph_.addVariable(elements, {.firstTile = home});
    const VariableId out = graph_.addVariable(elements, {.firstTile = home});
    graph_.addVertex(
        set_, type_, tile,
        {ModelGraph::run(in, 0, elements), ModelGraph::run(out, 0, elements)},
        cycles);
  }

  ProgramPtr execute() {
    if (!execute_) {
      execute_ = ModelGraph::make(ExecuteNode{set_});
    }
    return execute_;
  }
  ExecutionCost price() {
    model::StepTable steps(graph_.data);
    return model::Timeline(steps).run(execute());
  }

  ModelGraph graph_;
  ComputeSetId set_;
  std::uint32_t type_ = 0;
  ProgramPtr execute_;
};

TEST_F(ModelVertices, WorkersAreDealtAndSupervisorsFollowEachOther) {
  for (int i = 0; i < 7; ++i) {
    addVertex(2, 2, 10, 50);
  }
  const auto supervisorType = graph_.addType(vertexType(
      "Super", {edge("in", EdgeDirection::Input)}, VertexBase::Supervisor));
  const VariableId in = graph_.addVariable(10, {.firstTile = 2});
  for (int i = 0; i < 2; ++i) {
    graph_.addVertex(set_, supervisorType, 2, {ModelGraph::run(in, 0, 10)},
                     1000);
  }
  const ExecutionCost cost = price();
  EXPECT_EQ(cost.total, syncCycles + 6 * 2 * 50 + 2 * 1000);
  EXPECT_EQ(cost.ipus[0].threadCycles, 7 * 50 + 2 * 1000);
  EXPECT_EQ(cost.ipus[0].exchange, 0U); // all at home
}

TEST_F(ModelVertices, ShareTheContextsWithTheVertexGroupsOfTheirSet) {
  addVertex(0, 0, 4, 100);
  graph_.data.computeSets[set_.index()].groups.push_back({});
  graph_.data.computeSets[set_.index()].groups[0].phases = {
      {"", {tiles(0, 2, {worker("library", 6, 30)})}},
      {"", {tiles(0, 1, {worker("library", 1, 5)})}}};
  const ExecutionCost cost = price();
  // Phase one: six of 30, and 100 more on one context.
  EXPECT_EQ(cost.total, 2 * syncCycles + 6 * 130 + 6 * 5);
  EXPECT_EQ(cost.ipus[0].tileCompute, 6U * 130 + 6 * 30 + 6 * 5);
}

TEST_F(ModelVertices, WithoutAnEstimateTheElementsOfTheEdgesCount) {
  const VariableId data = graph_.addVariable(30, {});
  VertexField half = edge("in", EdgeDirection::Input);
  half.type = DataType::Half;
  const auto cyclesOf = [&](std::vector<VertexField> fields, VertexBase base) {
    const std::vector<FieldSlot> slots(fields.size(),
                                       ModelGraph::run(data, 0, 30));
    const auto type = graph_.addType(vertexType("t", std::move(fields), base));
    return model::cyclesOf(graph_.data.vertices,
                           graph_.addVertex(set_, type, 0, slots), 6);
  };
  const VertexField in = edge("in", EdgeDirection::Input);
  const VertexField out = edge("out", EdgeDirection::Output);
  const VertexField both = edge("both", EdgeDirection::InOut);
  // Sums of one and two operands.
  EXPECT_EQ(cyclesOf({in}, VertexBase::Worker), 25 + 30 * 4);
  EXPECT_EQ(cyclesOf({in, in}, VertexBase::Worker), 25 + 30 * 8);
  // A copy, an update in place, a triad.
  EXPECT_EQ(cyclesOf({in, out}, VertexBase::Worker), 25 + 126);
  EXPECT_EQ(cyclesOf({in, both}, VertexBase::Worker), 25 + 126);
  EXPECT_EQ(cyclesOf({in, in, out}, VertexBase::Worker), 25 + 189);
  EXPECT_EQ(cyclesOf({half, half}, VertexBase::Worker), 25 + 30 * 13);
  EXPECT_EQ(cyclesOf({in}, VertexBase::Multi), 6 * (25 + 20));
  EXPECT_EQ(cyclesOf({in}, VertexBase::Supervisor), 6 * (25 + 120));
}

TEST_F(ModelVertices, AlignedEdgesAreReadAsVectors) {
  const VariableId data = graph_.addVariable(32, {});
  const auto cyclesOf = [&](DataType element) {
    VertexField field = edge("in", EdgeDirection::Input);
    field.type = element;
    field.alignment = 8;
    const auto type = graph_.addType(vertexType("t", {field}));
    return model::cyclesOf(
        graph_.data.vertices,
        graph_.addVertex(set_, type, 0, {ModelGraph::run(data, 0, 32)}), 6);
  };
  EXPECT_EQ(cyclesOf(DataType::Float), 25 + 16 * 4);
  EXPECT_EQ(cyclesOf(DataType::Half), 25 + 8 * 13 / 2);
}

TEST_F(ModelVertices, InputsFromElsewhereAreSentOnceAndReceivedOncePerTile) {
  const VariableId data = graph_.addVariable(80, {});
  const VariableId results = graph_.addVariable(8, {.parts = 8});
  for (const unsigned tile : {1U, 1U, 2U, 3U}) {
    graph_.addVertex(
        set_, type_, tile,
        {ModelGraph::run(data, 0, 80), ModelGraph::run(results, tile, 1)}, 10);
  }
  const ExecutionCost cost = price();
  EXPECT_EQ(cost.total, syncCycles + routingCycles + 80 + 6 * 10);
  // Tile 0 sends 320 bytes, tile 1 receives them at 4 a cycle, tiles 2 and 3
  // share a bus and receive at 8.
  EXPECT_EQ(cost.ipus[0].tileExchange, 4 * routingCycles + 80 + 80 + 40 + 40);
}

TEST_F(ModelVertices, OverlappingInputsAreSentOnce) {
  const VariableId data = graph_.addVariable(100, {});
  const VariableId results = graph_.addVariable(8, {.parts = 8});
  // Elements 0-59 to tile 1, 40-99 to tile 2.
  for (const unsigned tile : {1U, 2U}) {
    graph_.addVertex(set_, type_, tile,
                     {ModelGraph::run(data, 40 * (tile - 1), 60),
                      ModelGraph::run(results, tile, 1)},
                     0);
  }
  EXPECT_EQ(price().ipus[0].tileExchange, 3 * routingCycles + 100 + 60 + 60);
}

TEST_F(ModelVertices, StridedInputsComeInFragments) {
  const VariableId data = graph_.addVariable(80, {});
  const VariableId result = graph_.addVariable(1, {.firstTile = 1});
  graph_.addVertex(
      set_, type_, 1,
      {graph_.viewSlot({DataType::Float, {20}, {{data, 0, {20}, {4}}}}),
       ModelGraph::run(result, 0, 1)},
      0);
  // 20 words, but three slots to steer each of 20 fragments.
  EXPECT_EQ(price().ipus[0].exchange, routingCycles + 60);
}

TEST_F(ModelVertices, OutputsGoHomeAfterwards) {
  addVertex(1, 0, 40, 10);
  const ExecutionCost cost = price();
  EXPECT_EQ(cost.ipus[0].sync, 2 * syncCycles);
  EXPECT_EQ(cost.total, 2 * (syncCycles + routingCycles + 40) + 60);
}

TEST_F(ModelVertices, BuffersHoldWhatIsAtHomeElsewhere) {
  addVertex(1, 0, 3, 10);
  model::StepTable steps(graph_.data);
  const model::MemoryUse use = model::measureMemory(steps, {execute()});
  // 12 bytes each way, rounded up to 16; the variables are on tile 0.
  EXPECT_EQ(use.at(1).maxLive, 2 * 16);
  EXPECT_EQ(use.at(1).of(MemoryCategory::VertexInstances), 16U);
  EXPECT_EQ(use.at(1).of(MemoryCategory::VertexCode), 550U);
  EXPECT_EQ(use.at(0).of(MemoryCategory::VertexCode), 0U);
  EXPECT_EQ(use.edges, 2U);
}

TEST_F(ModelVertices, ExitStatusIsAWordFromEachTile) {
  for (const unsigned tile : {0U, 1U, 1U, 5U}) {
    addVertex(tile, tile, 4, 10);
  }
  const TensorView status = graph_.view(graph_.addVariable(1, {}));
  execute_ = ModelGraph::make(ExecuteNode{set_, status});
  // Tile 0 steers two fragments: 6 cycles; tiles 1 and 5 send a word.
  const ExecutionCost cost = price();
  EXPECT_EQ(cost.total, 2 * syncCycles + 60 + routingCycles + 6);
  EXPECT_EQ(cost.ipus[0].tileExchange, 3 * routingCycles + 6 + 1 + 1);
}

TEST(ModelVerticesOnTwoIpus, BringTheirInputsOverTheLinks) {
  ModelGraph graph(smallTarget(2, 8));
  const ComputeSetId set = graph.addComputeSet("set");
  const auto type =
      graph.addType(vertexType("v", {edge("in", EdgeDirection::Input)}));
  const VariableId data = graph.addVariable(100, {});
  graph.addVertex(set, type, 8, {ModelGraph::run(data, 0, 100)}, 10);
  const ProgramPtr program = ModelGraph::make(ExecuteNode{set});
  model::StepTable steps(graph.data);
  const ExecutionCost cost = model::Timeline(steps).run(program);
  // 400 bytes over six links of 13.6 GB/s and 0.6 us, at 1.33 GHz: 804.5.
  EXPECT_EQ(cost.ipus[1].globalExchange, 805U);
  EXPECT_EQ(cost.total, 600 + 805 + syncCycles + 60);
}

TEST(ModelVertexState, FieldsLieInOrderAndAligned) {
  const auto input = [](FieldLayout layout) {
    return edge("e", EdgeDirection::Input, FieldShape::Vector, layout);
  };
  // 0 bool, 4 span, 12 short span, 16 scaled pointer, 18 half, 20 pointer,
  // 24 three floats.
  EXPECT_EQ(
      model::stateBytes(vertexType(
          "t", {value("flag", DataType::Bool), input(FieldLayout::Span),
                input(FieldLayout::ShortSpan), input(FieldLayout::ScaledPtr64),
                value("h", DataType::Half), input(FieldLayout::OnePtr),
                value("f", DataType::Float, 3)})),
      36U);
  EXPECT_EQ(model::stateBytes(
                vertexType("t", {edge("s", EdgeDirection::InOut,
                                      FieldShape::Scalar, FieldLayout::None),
                                 value("b", DataType::Bool)})),
            5U);
}

TEST(ModelVertexState, ListsAndVectorsOfValuesLieBesideIt) {
  ModelGraph graph(smallTarget(1, 4));
  VertexField spans = edge("spans", EdgeDirection::Input,
                           FieldShape::VectorList, FieldLayout::Span);
  spans.itemLayout = FieldLayout::Span;
  VertexField deltas = edge("deltas", EdgeDirection::Output,
                            FieldShape::VectorList, FieldLayout::DeltaN);
  VertexField values = value("values", DataType::Short);
  values.shape = FieldShape::ValueVector;
  values.layout = FieldLayout::OnePtr;
  const auto type = graph.addType(
      vertexType("t", {spans, deltas,
                       edge("scalars", EdgeDirection::Input,
                            FieldShape::ScalarList, FieldLayout::OnePtr),
                       values}));
  const VariableId data = graph.addVariable(10, {.firstTile = 1});
  const FieldSlot one = ModelGraph::run(data, 0, 1);
  const ComputeSetId set = graph.addComputeSet("set");
  graph.addVertex(set, type, 1,
                  {graph.listSlot({one, one, one}),
                   graph.listSlot({one, one}),
                   graph.listSlot({one}),
                   {FieldSlot::Kind::Bytes, 0, 0, 10}},
                  1);
  const ProgramPtr program = ModelGraph::make(ExecuteNode{set});
  model::StepTable steps(graph.data);
  const model::MemoryUse use = model::measureMemory(steps, {program});
  // 8 and 6 of the lists, 2 to align, 4 and 4 of the pointers.
  EXPECT_EQ(use.at(1).of(MemoryCategory::VertexInstances), 24U);
  // Three spans; two deltas and a pointer of 4 each.
  EXPECT_EQ(use.at(1).of(MemoryCategory::VectorListDescriptors), 24U + 8 + 4);
  EXPECT_EQ(use.at(1).of(MemoryCategory::VertexFieldData), 12U);
  EXPECT_EQ(use.vertexData.descriptors, 36U);
  EXPECT_EQ(use.edges, 6U);
}

TEST(ModelVertexRuns, EqualTilesAreOneRun) {
  ModelGraph graph(smallTarget(1, 1472));
  const ComputeSetId set = graph.addComputeSet("set");
  const auto type =
      graph.addType(vertexType("v", {edge("in", EdgeDirection::Input)}));
  const std::int64_t perTile = 40;
  const VariableId data =
      graph.addVariable(1472 * perTile, {.parts = 1472, .grain = perTile});
  for (std::int64_t i = 0; i < 1472 * perTile; ++i) {
    graph.addVertex(set, type, static_cast<unsigned>(i / perTile),
                    {ModelGraph::run(data, i, 1)}, i % 2 == 0 ? 10 : 20);
  }
  const ProgramPtr program = ModelGraph::make(ExecuteNode{set});
  model::StepTable steps(graph.data);
  ASSERT_EQ(steps.stepsOf(*program).size(), 1U);
  const model::Step &step = steps.stepsOf(*program)[0];
  ASSERT_EQ(step.runs.size(), 1U);
  EXPECT_EQ(step.runs[0]->tileCount, 1472U);
  ASSERT_EQ(step.runs[0]->vertices.size(), 2U);
  EXPECT_EQ(step.runs[0]->vertices[1].count, 20U);
}

} // namespace
} // namespace poplar::testing
