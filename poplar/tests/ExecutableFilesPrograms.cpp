// Programs of every kind and user vertices, written and read again; slots that
// do not fit their vertex are refused.
#include "CodeletSource.hpp"
#include "EngineProgram.hpp"
#include "ExecutableBytes.hpp"
#include "ExpectError.hpp"

#include "program/VisitPrograms.hpp"

#include <gtest/gtest.h>

#include <set>

namespace {

using namespace poplar;
using namespace poplar::program;
using poplar::test::Change;
using poplar::test::changed;
using poplar::test::EngineProgram;
using poplar::test::fromBytes;
using poplar::test::Reading;
using poplar::test::toBytes;

// Two replicas, for CrossReplicaCopy and collectives.
struct ReplicatedGraph {
  ReplicatedGraph() : graph(makeTarget(), replication_factor(2)) {}

  static Target makeTarget() {
    IPUModel model;
    model.numIPUs = 2;
    return model.createDevice().getTarget();
  }

  Tensor add(const Type &type, const std::vector<std::size_t> &shape) {
    const Tensor tensor = graph.addVariable(type, shape);
    graph.setTileMapping(tensor, 0);
    return tensor;
  }

  Graph graph;
};

Sequence makeEverything(ReplicatedGraph &g) {
  const Tensor x = g.add(FLOAT, {4}), y = g.add(FLOAT, {4});
  const Tensor flag = g.add(BOOL, {}), number = g.add(INT, {});
  const DataStream in = g.graph.addHostToDeviceFIFO("in", FLOAT, 4);
  const DataStream out = g.graph.addDeviceToHostFIFO("out", FLOAT, 4);
  const RemoteBuffer rows = g.graph.addRemoteBuffer("rows", FLOAT, 4, 3);
  const Copy copy(x, y, false, "shared");
  const Function function = g.graph.addFunction(copy);
  Switch choice(number, copy);
  choice.add(-7, WriteUndef(y)).add(3, Sync(SyncType::GLOBAL));
  Sequence collective;
  internal::addCollective(collective, {.groups = {{1, 0}}}, x, y, "collective");
  return Sequence({
      collective,
      Copy(in, x),
      Copy(x, out),
      Copy(rows, x),
      Copy(x, rows),
      Repeat(3, copy),
      RepeatWhileFalse(copy, flag, Sequence({copy, copy})),
      If(flag, copy, Call(function)),
      choice,
      PrintTensor("title", x, PrintTensorFmt(9, 8, 70, 5)),
      PrintTensor(x, PrintTensorFmt::disableFormatting()),
      CrossReplicaCopy(x, y, {{0, 1}, {1, 0}}),
      Block(copy, "block"),
      AbortOnCondition(flag, "message"),
      ErrorProgram("error", x),
      Execute(g.graph.addComputeSet("empty"), flag),
  });
}

template <typename Op> internal::ProgramPtr makeNode(Op op) {
  return std::make_shared<internal::ProgramNode>(
      internal::ProgramNode{std::move(op), "by hand"});
}

TEST(ExecutableFilesPrograms, AreOfEveryKind) {
  ReplicatedGraph g;
  const Sequence everything = makeEverything(g);
  const Tensor cycles = g.add(UNSIGNED_INT, {2});
  // What measures cycles has no constructor of its own.
  const Executable executable =
      changed(compileGraph(g.graph, {everything}), [&](Reading &reading) {
        reading.programs.push_back(makeNode(internal::CycleCountNode{
            reading.programs[0], internal::tensorView(cycles), 1234}));
      });
  const std::string bytes = toBytes(executable);
  const Executable read = fromBytes(bytes);
  EXPECT_EQ(toBytes(read), bytes);

  std::set<std::size_t> kinds;
  const Reading &reading = read.impl()->values();
  for (const internal::ProgramPtr &program : reading.programs) {
    internal::forEachNode(reading.graph, program,
                          [&](const internal::ProgramNode &node) {
                            kinds.insert(node.op.index());
                          });
  }
  EXPECT_EQ(kinds.size(),
            std::variant_size_v<decltype(internal::ProgramNode::op)>);
}

TEST(ExecutableFilesPrograms, StayShared) {
  ReplicatedGraph g;
  const Copy copy(g.add(FLOAT, {4}), g.add(FLOAT, {4}));
  const Executable read =
      fromBytes(toBytes(compileGraph(g.graph, {Sequence({copy, copy}), copy})));
  const auto &programs = read.impl()->values().programs;
  const auto &children =
      std::get<internal::SequenceNode>(programs[0]->op).children;
  EXPECT_EQ(children[0], children[1]);
  EXPECT_EQ(children[0], programs[1]);
}

// Each reading numbers its own nodes, also those that both have.
TEST(ExecutableFilesPrograms, OfTwoReadingsMayBeTheSame) {
  ReplicatedGraph g;
  const Sequence everything = makeEverything(g);
  const auto once = compileGraph(g.graph, {everything}).impl();
  const Executable linked(std::make_shared<const ExecutableImpl>(
      std::make_shared<const Reading>(once->values()),
      std::make_shared<const Reading>(once->values()), OptionFlags()));
  const std::string bytes = toBytes(linked);
  const Executable read = fromBytes(bytes);
  EXPECT_EQ(toBytes(read), bytes);
  EXPECT_NE(&read.impl()->values(), &read.impl()->machine());
}

// A vertex with a field of every shape.
class ExecutableFilesVertices : public CodeletTest {
protected:
  ExecutableFilesVertices() {
    std::stringstream source(R"(
#include <poplar/Vertex.hpp>
using namespace poplar;
struct AddAll : Vertex {
  Input<float> scalar;
  Input<Vector<float>> vector;
  Vector<Input<float>> scalars;
  Vector<Input<Vector<float>>> vectors;
  float value[2];
  Vector<float> values;
  Output<float> sum;
  bool compute() {
    *sum = scalar + value[0] + value[1];
    for (float v : vector) *sum += v;
    for (float v : values) *sum += v;
    for (unsigned i = 0; i < scalars.size(); ++i) *sum += scalars[i];
    for (unsigned i = 0; i < vectors.size(); ++i)
      for (float v : vectors[i]) *sum += v;
    return true;
  }
};)");
    p.graph.addCodelets(source);
    const Tensor x = p.addHostVariable("x", {3, 4}, 1);
    const Tensor sum = p.addHostVariable("sum", {}, 0);
    const ComputeSet computeSet = p.graph.addComputeSet("adding");
    const VertexRef vertex = p.graph.addVertex(computeSet, "AddAll");
    p.graph.connect(vertex["scalar"], x[0][0]);
    p.graph.connect(vertex["vector"], x.transpose()[1]); // a view
    p.graph.connect(vertex["scalars"], {x[1][0], x[1][2]});
    p.graph.connect(vertex["vectors"], {x[2], x[0].slice(2, 4)});
    p.graph.setInitialValue(vertex["value"], ArrayRef<float>({1000, 2000}));
    p.graph.setInitialValue(vertex["values"], ArrayRef<float>({10, 20, 30}));
    p.graph.connect(vertex["sum"], sum);
    p.graph.setTileMapping(vertex, 3);
    p.graph.setPerfEstimate(vertex, 77);
    p.program.add(Execute(computeSet));
  }

  // `change` of the vertices, whose one vertex has seven slots.
  void expectRefused(const std::function<void(internal::VertexTable &)> &change,
                     const std::string &message) {
    const Executable executable = compileGraph(p.graph, {p.program});
    expectError<poplar_error>(
        [&] {
          fromBytes(toBytes(changed(executable, [&](Reading &reading) {
            change(reading.graph.vertices);
          })));
        },
        message);
  }
  void
  expectSlotRefused(const char *field,
                    const std::function<void(internal::FieldSlot &)> &change,
                    const std::string &message) {
    expectRefused(
        [&](internal::VertexTable &table) {
          change(table.slots[table.types[0]->findField(field)]);
        },
        message);
  }

  EngineProgram p;
};

std::string summary(Engine &engine) {
  std::ostringstream stream;
  engine.printProfileSummary(stream, {{"showExecutionSteps", "true"}});
  return stream.str();
}

TEST_F(ExecutableFilesVertices, RunWithTheirCodelets) {
  const Executable executable = compileGraph(p.graph, {p.program});
  const std::string bytes = toBytes(executable);
  std::filesystem::remove_all(folder); // the file needs no cache
  const Executable read = fromBytes(bytes);
  EXPECT_EQ(toBytes(read), bytes);

  Engine engine(read), original(executable);
  for (Engine *each : {&engine, &original}) {
    each->load(p.device());
    each->run();
  }
  const std::vector<float> x = p.read(engine)[0];
  EXPECT_EQ(p.read(engine)[1][0], 3060 + x[0] + x[1] + x[5] + x[9] + x[4] +
                                      x[6] + x[8] + x[9] + x[10] + x[11] +
                                      x[2] + x[3]);
  EXPECT_EQ(summary(engine), summary(original));
}

TEST_F(ExecutableFilesVertices, HaveSlotsThatFit) {
  using Slot = internal::FieldSlot;
  using Kind = Slot::Kind;
  expectSlotRefused(
      "scalar", [](Slot &s) { s.index = 99; }, "no variable 99");
  expectSlotRefused(
      "scalar", [](Slot &s) { s.begin = 12; }, "variable 0");
  expectSlotRefused(
      "scalar", [](Slot &s) { s.begin = -1; }, "variable 0");
  expectSlotRefused(
      "scalar", [](Slot &s) { s.count = 2; }, "one element");
  expectSlotRefused(
      "scalar", [](Slot &s) { s.kind = Kind::Unset; }, "unset");
  expectSlotRefused(
      "scalar", [](Slot &s) { s = {}; }, "scalar");
  expectSlotRefused(
      "scalar", [](Slot &s) { s.kind = Kind::Bytes; }, "no tensor");
  expectSlotRefused(
      "scalar", [](Slot &s) { s.kind = static_cast<Kind>(9); }, "enumeration");
  expectSlotRefused(
      "vector", [](Slot &s) { s.index = 1; }, "no tensor");
  expectSlotRefused(
      "vector", [](Slot &s) { ++s.count; }, "another tensor");
  expectSlotRefused(
      "scalars", [](Slot &s) { s.kind = Kind::Run; }, "shape");
  expectSlotRefused(
      "scalars", [](Slot &s) { s.index = 7; }, "no list 7");
  expectSlotRefused(
      "vectors", [](Slot &s) { s.count = 3; }, "list of 2");
  expectSlotRefused(
      "value", [](Slot &s) { s.count = 12; }, "12 bytes");
  expectSlotRefused(
      "value", [](Slot &s) { s.begin = 1 << 20; }, "outside");
  expectSlotRefused(
      "values", [](Slot &s) { s.count = 3; }, "3 bytes");
  expectSlotRefused(
      "values", [](Slot &s) { s.kind = Kind::Run; }, "shape");
}

TEST_F(ExecutableFilesVertices, AreWhereTheySay) {
  using Table = internal::VertexTable;
  expectRefused([](Table &t) { t.vertices[0].type = 1; }, "type of vertex");
  expectRefused([](Table &t) { t.vertices[0].tile = 1472; }, "tile 1472");
  expectRefused([](Table &t) { t.vertices[0].firstSlot = 1; }, "no slots");
  expectRefused([](Table &t) { t.vertices[0].firstSlot = ~0ULL; }, "no slots");
  expectRefused([](Table &t) { t.slots.pop_back(); }, "no slots");
  expectRefused([](Table &t) { t.lists[0][0].index = 99; }, "no variable 99");
  expectRefused([](Table &t) { t.views[0].pieces[0].offset = 12; }, "elements");
  expectRefused([](Table &t) { t.vertices[0].computeSet = {}; }, "not its own");
  expectRefused([](Table &t) { t.vertices.clear(); }, "not its own");
  expectRefused(
      [](Table &t) {
        auto file = std::make_shared<internal::CodeletFile>(*t.codelets[0]);
        file->bytes.resize(file->bytes.size() / 2);
        t.codelets[0] = file;
        t.types[0] = &file->types[0];
      },
      "checksum");
}

} // namespace
