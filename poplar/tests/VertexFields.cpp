// Vertices of a graph: connecting and setting their fields, estimates, and what
// is refused.
#include "ExpectError.hpp"
#include "HandMadeVertices.hpp"

#include <poplar/Graph.hpp>
#include <poplar/VertexIntrospector.hpp>
#include <poplar/internal/Access.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace {

using namespace poplar;
using internal::FieldSlot;
using internal::graphData;
using test::EdgeDirection;
using test::FieldLayout;
using test::FieldShape;
using test::makeField;

struct NothingVertex {
  bool compute() { return true; }
};

// A type with a field of every shape. Its layout is never used.
std::shared_ptr<const internal::CodeletFile> everyShape() {
  using enum FieldShape;
  using enum EdgeDirection;
  auto field = [](const char *name, FieldShape shape, EdgeDirection direction,
                  support::DataType type = support::DataType::Float) {
    return makeField(name, shape, direction, 0, type);
  };
  auto type = test::makeType<NothingVertex>(
      "ns::Every<float,unsigned int>",
      {field("scalar", Scalar, Input), field("vector", Vector, Input),
       field("short", Vector, Input), field("out", Vector, Output),
       field("scalars", ScalarList, Input), field("list", VectorList, Input),
       field("value", Value, None, support::DataType::UnsignedShort),
       field("array", Value, None, support::DataType::Int),
       field("state", ValueVector, None, support::DataType::Half)});
  type.fields[2].layout = FieldLayout::ShortSpan;
  type.fields[5].itemLayout = FieldLayout::ShortSpan;
  type.fields[7].count = 3;
  auto file = std::make_shared<internal::CodeletFile>();
  file->name = "every.cpp";
  file->types = {type};
  return file;
}

class VertexFields : public testing::Test {
protected:
  VertexFields() {
    internal::addCodeletFile(graph, everyShape());
    vertex = graph.addVertex(computeSet, "ns::Every<float, unsigned int>");
  }

  const FieldSlot &slot(const char *field) {
    const auto &table = graphData(graph).vertices;
    const internal::VertexId id(vertex.getId());
    return table.slotsOf(id)[table.typeOf(id).findField(field)];
  }
  template <typename T> std::vector<T> valuesOf(const char *field) {
    const FieldSlot &bytes = slot(field);
    EXPECT_EQ(bytes.kind, FieldSlot::Kind::Bytes);
    std::vector<T> values(static_cast<std::size_t>(bytes.count) / sizeof(T));
    std::memcpy(values.data(),
                graphData(graph).vertices.bytes.data() + bytes.begin,
                static_cast<std::size_t>(bytes.count));
    return values;
  }

  Graph graph{Target::createIPUTarget(1, "ipu2")};
  ComputeSet computeSet = graph.addComputeSet("cs");
  Tensor t = graph.addVariable(FLOAT, {4, 8}, "weights");
  VertexRef vertex;
};

TEST_F(VertexFields, NamesMayHaveSpaces) {
  EXPECT_TRUE(graph.hasCodelet("ns::Every<float,unsigned int>"));
  EXPECT_TRUE(graph.hasCodelet("ns::Every< float , unsigned int >"));
  EXPECT_FALSE(graph.hasCodelet("ns::Every<float,unsignedint>"));
  EXPECT_EQ(graph.getNumVertices(), 1U);
  expectError<unknown_vertex_type>(
      [&] { graph.addVertex(computeSet, "ns::Every<half>"); },
      "ns::Every<half>");
  Graph other(graph.getTarget());
  expectError<graph_connection_error>(
      [&] {
        graph.addVertex(other.addComputeSet(), "ns::Every<float,unsigned int>");
      },
      "ns::Every", "another graph");
  expectError<graph_connection_error>(
      [&] { graph.addVertex({}, "ns::Every<float,unsigned int>"); },
      "default-constructed");
}

TEST_F(VertexFields, TheSameCodeletsAreAddedOnce) {
  auto file = everyShape();
  auto copy = std::make_shared<internal::CodeletFile>(*file);
  copy->bytes = {std::byte(1), std::byte(2)};
  auto second = std::make_shared<internal::CodeletFile>(*copy);
  Graph fresh(graph.getTarget());
  EXPECT_TRUE(internal::addCodeletFile(fresh, copy));
  EXPECT_FALSE(internal::addCodeletFile(fresh, copy));
  EXPECT_FALSE(internal::addCodeletFile(fresh, second));
  // Another file with the same type: the first one stays.
  second->bytes.push_back(std::byte(3));
  EXPECT_TRUE(internal::addCodeletFile(fresh, second));
  EXPECT_EQ(graphData(fresh).vertices.types.size(), 1U);
  EXPECT_EQ(graphData(fresh).vertices.types[0], &copy->types[0]);
}

TEST_F(VertexFields, RunsOfAVariableNeedNoView) {
  graph.connect(vertex["scalar"], t[1][2]);
  EXPECT_EQ(slot("scalar").kind, FieldSlot::Kind::Run);
  EXPECT_EQ(slot("scalar").begin, 10);
  EXPECT_EQ(slot("scalar").count, 1);
  graph.connect(vertex["vector"], t[2].slice(1, 5));
  EXPECT_EQ(slot("vector").kind, FieldSlot::Kind::Run);
  EXPECT_EQ(slot("vector").begin, 17);
  EXPECT_EQ(slot("vector").count, 4);
  EXPECT_TRUE(graphData(graph).vertices.views.empty());

  Tensor column = t.transpose()[3];
  graph.connect(vertex["out"], column);
  EXPECT_EQ(slot("out").kind, FieldSlot::Kind::View);
  EXPECT_EQ(graphData(graph).vertices.views[slot("out").index],
            internal::tensorView(column));
  graph.connect(vertex["vector"], t[0].slice(3, 3)); // no elements
  EXPECT_EQ(slot("vector").count, 0);
}

TEST_F(VertexFields, ListsTakeTensorsOrOneOfARankMore) {
  graph.connect(vertex["list"], {t[0], t[1].slice(2, 4)});
  ASSERT_EQ(slot("list").kind, FieldSlot::Kind::List);
  const auto &lists = graphData(graph).vertices.lists;
  ASSERT_EQ(lists[slot("list").index].size(), 2U);
  EXPECT_EQ(lists[slot("list").index][1].begin, 10);
  graph.connect(vertex["list"], t);
  ASSERT_EQ(lists[slot("list").index].size(), 4U);
  EXPECT_EQ(lists[slot("list").index][3].begin, 24);
  EXPECT_EQ(lists[slot("list").index][3].count, 8);
  graph.connect(vertex["scalars"], t[2]);
  ASSERT_EQ(lists[slot("scalars").index].size(), 8U);
  EXPECT_EQ(lists[slot("scalars").index][7].begin, 23);
  EXPECT_EQ(graph.getFieldSize(vertex["list"]), 4U);
  EXPECT_EQ(graph.getFieldSize(vertex["list"][3]), 8U);
}

TEST_F(VertexFields, EntriesOfAListNeedItsSize) {
  expectError<no_size_specified>(
      [&] { graph.connect(vertex["list"][0], t[0]); }, "'list[0]'", "ns::Every",
      "setFieldSize");
  expectError<no_size_specified>([&] { graph.getFieldSize(vertex["vector"]); },
                                 "'vector'");
  graph.setFieldSize(vertex["list"], 2);
  EXPECT_EQ(graph.getFieldSize(vertex["list"]), 2U);
  graph.connect(vertex["list"][1], t[3]);
  const auto &items = graphData(graph).vertices.lists[slot("list").index];
  EXPECT_EQ(items[0].kind, FieldSlot::Kind::Unset);
  EXPECT_EQ(items[1].begin, 24);
  expectError<index_error>([&] { graph.connect(vertex["list"][2], t[0]); },
                           "Index 2", "'list'", "list of 2");
  expectError<graph_connection_error>(
      [&] { graph.connect(vertex["vector"][0], t[0]); }, "'vector[0]'",
      "not a list");
  expectError<graph_connection_error>(
      [&] { graph.setFieldSize(vertex["vector"], 4); }, "'vector'");
}

TEST_F(VertexFields, TensorsMustFitTheirField) {
  expectError<unknown_field>([&] { graph.connect(vertex["x"], t[0]); },
                             "ns::Every", "x");
  expectError<graph_connection_error>(
      [&] { graph.connect(vertex["scalar"], t[0]); }, "'scalar'", "ns::Every",
      "'weights'", "one element", "{8}");
  expectError<graph_connection_error>(
      [&] { graph.connect(vertex["vector"], t); }, "'vector'", "'weights'",
      "rank 1", "{4,8}");
  expectError<graph_connection_error>(
      [&] { graph.connect(vertex["list"], t[0]); }, "'list'", "rank 2", "{8}");
  expectError<graph_connection_error>(
      [&] {
        graph.connect(vertex["vector"], {t[0], t[1]});
      },
      "'vector'", "one tensor");
  expectError<type_error>(
      [&] {
        graph.connect(vertex["vector"], graph.addVariable(HALF, {2}, "h"));
      },
      "'vector'", "ns::Every", "float", "half", "'h'");
  expectError<graph_connection_error>(
      [&] { graph.connect(vertex["value"], t[0][0]); }, "'value'",
      "setInitialValue");
  expectError<poplar_error>([&] { graph.connect(vertex["vector"], Tensor()); },
                            "invalid");
  Graph other(graph.getTarget());
  expectError<graph_connection_error>(
      [&] {
        graph.connect(vertex["vector"], other.addVariable(FLOAT, {1}, "far"));
      },
      "'far'", "'vector'", "another graph");
  expectError<graph_connection_error>(
      [&] { other.connect(vertex["vector"], t[0]); }, "another graph");
}

TEST_F(VertexFields, ShortSpansHaveElevenBitCounts) {
  Tensor large = graph.addVariable(FLOAT, {2048});
  graph.connect(vertex["short"], large.slice(0, 2047));
  expectError<graph_connection_error>(
      [&] { graph.connect(vertex["short"], large); }, "'short'", "2048 entries",
      "2047");
  expectError<graph_connection_error>(
      [&] {
        graph.connect(vertex["list"], {t[0], large});
      },
      "'list[1]'", "2047");
  const char *name = "ns::Every<float,unsigned int>";
  EXPECT_EQ(graph.getMaxFieldDim(name, "short", 0), 2047U);
  EXPECT_EQ(graph.getMaxFieldDim(name, "list", 0), 4294967295U);
  EXPECT_EQ(graph.getMaxFieldDim(name, "list", 1), 2047U);
  expectError<index_error>([&] { graph.getMaxFieldDim(name, "short", 1); },
                           "'short'", "1");
  EXPECT_EQ(graph.getMaxVertexFieldValue(name, "value"), 65535);
  EXPECT_EQ(graph.getMaxVertexFieldValueAs<unsigned char>(name, "value"), 255);
  EXPECT_EQ(graph.getMaxVertexFieldValueAs<unsigned>(name, "array"),
            2147483647U);
}

TEST_F(VertexFields, OutputsMustBeWriteable) {
  Tensor constant = graph.addConstant(FLOAT, {4}, 1, "ones");
  graph.connect(vertex["vector"], constant);
  expectError<graph_connection_error>(
      [&] { graph.connect(vertex["out"], constant); }, "'out'", "ns::Every",
      "constant", "'ones'");
  graph.connect(vertex["vector"], t[0].broadcast(2, 0));
  expectError<graph_connection_error>(
      [&] { graph.connect(vertex["out"], t[0].broadcast(2, 0)); }, "'out'",
      "more than once", "'weights'");
}

TEST_F(VertexFields, ValuesAreStoredInTheirFieldsType) {
  graph.setInitialValue(vertex["value"], 7);
  EXPECT_EQ(valuesOf<std::uint16_t>("value"), (std::vector<std::uint16_t>{7}));
  graph.setInitialValue<unsigned>(vertex["array"], {1, 2, 3});
  EXPECT_EQ(valuesOf<int>("array"), (std::vector<int>{1, 2, 3}));
  graph.setInitialValue<float>(vertex["state"], {1.0F, -2.0F});
  EXPECT_EQ(valuesOf<std::uint16_t>("state"),
            (std::vector<std::uint16_t>{0x3C00, 0xC000}));
  EXPECT_EQ(graph.getFieldSize(vertex["state"]), 2U);
  graph.setInitialValueHalf(vertex["state"], std::uint16_t(0x4000));
  EXPECT_EQ(valuesOf<std::uint16_t>("state"),
            (std::vector<std::uint16_t>{0x4000}));
  graph.setFieldSize(vertex["state"], 3);
  EXPECT_EQ(valuesOf<std::uint16_t>("state"),
            (std::vector<std::uint16_t>{0, 0, 0}));

  expectError<graph_connection_error>(
      [&] {
        graph.setInitialValue<int>(vertex["array"], {1, 2});
      },
      "2 values", "'array'", "ns::Every", "3");
  expectError<graph_connection_error>(
      [&] {
        graph.setInitialValue<float>(vertex["vector"], {1, 2});
      },
      "'vector'", "edge");
  expectError<type_error>(
      [&] { graph.setInitialValueHalf(vertex["value"], std::uint16_t(0)); },
      "'value'", "unsigned short");
}

TEST_F(VertexFields, ConstantsLieOnTheTileOfTheirVertex) {
  graph.connect(vertex["scalar"], 1.5);
  graph.setTileMapping(vertex, 11);
  ASSERT_EQ(slot("scalar").kind, FieldSlot::Kind::Run);
  internal::GraphData finished = graphData(graph);
  internal::finishGraph(finished);
  const internal::Variable &constant = finished.variables[slot("scalar").index];
  EXPECT_TRUE(constant.isConstant);
  float value = 0;
  std::memcpy(&value, constant.initialData.data(), sizeof value);
  EXPECT_EQ(value, 1.5F);
  EXPECT_EQ(constant.mapping.ranges(0, 1).at(0).tile, 11U);

  VertexRef other = graph.addVertex(
      computeSet, "ns::Every<float,unsigned int>",
      {{"scalar", 2}, {"value", 3U}, {"vector", t[0]}, {"list", {t[0], t[1]}}});
  EXPECT_EQ(graph.getFieldSize(other["list"]), 2U);
  EXPECT_EQ(graph.getFieldSize(other["vector"]), 8U);
}

TEST_F(VertexFields, VerticesLieOnTilesOfTheTarget) {
  graph.setTileMapping(vertex, 1471);
  EXPECT_EQ(graphData(graph).vertices[internal::VertexId(0)].tile, 1471U);
  expectError<invalid_tile_mapping>([&] { graph.setTileMapping(vertex, 1472); },
                                    "1472");
  expectError<graph_connection_error>(
      [&] { graph.setTileMapping(VertexRef(), 0); }, "default-constructed");
}

TEST_F(VertexFields, EstimatesComeFromTheVertexOrItsType) {
  expectError<missing_perf_estimate>([&] { graph.getPerfEstimate(vertex); },
                                     "ns::Every");
  graph.connect(vertex["vector"], t[0]);
  graph.connect(vertex["list"], {t[0], t[1].slice(0, 3)});
  graph.setInitialValue<int>(vertex["array"], {5, 6, 7});
  graph.registerPerfEstimator(
      "ns::Every<float, unsigned int>",
      [](const VertexIntrospector &v, const Target &target) {
        const FieldData list = v.getFieldInfo("list");
        EXPECT_EQ(list.rank(), 2U);
        EXPECT_EQ(list.size(), 2U);
        const auto array = v.getFieldInfo("array");
        EXPECT_EQ(array.getInitialValues<unsigned>(target),
                  (std::vector<unsigned>{5, 6, 7}));
        EXPECT_EQ(array.getInitialValue<float>(target), 5.0F);
        EXPECT_EQ(v.getFieldInfo("value").getInitialValue<int>(target), 0);
        expectError<poplar_error>(
            [&] { v.getFieldInfo("vector").getInitialValue<float>(target); },
            "'vector'");
        expectError<index_error>([&] { list[2]; }, "'list'");
        expectError<unknown_field>([&] { v.getFieldInfo("no"); }, "no");
        return VertexPerfEstimate(
            100 * v.getFieldInfo("vector").size() + list[1].size(), 3);
      });
  EXPECT_EQ(graph.getPerfEstimate(vertex), VertexPerfEstimate(803, 3));

  VertexRef explicitly =
      graph.addVertex(computeSet, "ns::Every<float,unsigned int>");
  graph.setPerfEstimate(explicitly, 20);
  EXPECT_EQ(graph.getPerfEstimate(explicitly), VertexPerfEstimate(20));
  internal::GraphData finished = graphData(graph);
  internal::finishGraph(finished);
  EXPECT_EQ(finished.vertices.vertices[0].cycles, 803U);
  EXPECT_EQ(finished.vertices.vertices[0].flops, 3U);
  EXPECT_EQ(finished.vertices.vertices[1].cycles, 20U);
  EXPECT_EQ(graphData(graph).vertices.vertices[0].cycles,
            internal::VertexData::noEstimate);
}

} // namespace
