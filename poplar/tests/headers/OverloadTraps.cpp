// Compiled as C++11: calls that are easily ambiguous.
#include <poplar/CSRFunctions.hpp>
#include <poplar/CycleCount.hpp>
#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/RandomSeed.hpp>
#include <poplar/VertexIntrospector.hpp>

using namespace poplar;
using namespace poplar::program;

void tensors(Graph &graph, const DebugInfo &info) {
  Tensor v = graph.addVariable(INT, {});
  Tensor w = graph.addVariable(FLOAT, {4, 2}, "w");
  graph.addVariable(FLOAT, {1}, {info, "name"});
  graph.addVariable(FLOAT, {1}, {info});
  graph.addVariable(FLOAT, {1}, VariableMappingMethod::LINEAR);
  std::vector<float> values(8);
  graph.addConstant<float>(FLOAT, {4}, {1.0, 1.5, 2.0, 2.5});
  graph.addConstant(UNSIGNED_INT, {1}, 0);
  graph.addConstant(UNSIGNED_INT, {}, 0, "named");
  graph.addConstant<float>(FLOAT, {}, 0);
  graph.addConstant(FLOAT, {8}, values.data());
  graph.addConstant<float>(FLOAT, {8}, values.data());
  graph.addConstant<float>(FLOAT, {8}, values);
  graph.addConstant(FLOAT, w.shape(), ArrayRef<float>(values));
  graph.setInitialValue(v, 0);
  graph.setInitialValue<float>(w, values);
  graph.setTileMapping(w, 0);
  graph.setTileMapping(w[0].slice(0, 1), {{{0, 1}}});
  w.slice(0, 3);
  w.slice(0, 3, 1);
  w.slice({1, 1}, {2, 4});
  w.slice({0, 0}, {2, 2});
  w.slice({1, 2});
  w.slice({1, 2}, 0);
  w.slice({1, 2}, 1);
  concat(w, w, {1});
  concat({w, w});
  concat({w, w}, 1);
  w.reshape({8}).reshape({2, 4}).dimShuffle({1, 0}).expand({0}).squeeze({0});
}

std::vector<Program> programs(Graph &graph, const DebugInfo &info) {
  Tensor v = graph.addVariable(INT, {1});
  Sequence empty;
  Sequence braces{Copy(v, v), Copy(v, v)};
  Sequence parentheses({empty, braces});
  Sequence named({empty, braces}, "name");
  Sequence informed({}, {info});
  Sequence path({info, "name"});
  Sequence onlyName("name");
  Program repeat = Repeat{5, empty};
  return {repeat, empty, braces, parentheses, named, informed, path, onlyName};
}

void vertices(Graph &graph, const Target &target) {
  Tensor v = graph.addVariable(FLOAT, {4, 2});
  ComputeSet computeSet = graph.addComputeSet();
  std::vector<Tensor> rows(4, v[0]);
  VertexRef plain = graph.addVertex(computeSet, "Sum");
  VertexRef listed = graph.addVertex(
      computeSet, "Dot", {{"a", v[0]}, {"b", v[1]}, {"out", v[2][0]}});
  graph.addVertex(computeSet, "Dot", {{"a", v[0]}});
  graph.addVertex(computeSet, std::string("Parts"),
                  {{"in", {v[0], v[1]}}, {"rows", rows}, {"n", 0}});
  graph.connect(plain["in"], v[0]);
  graph.connect(plain["in"], {v[0], v[1]});
  graph.connect(plain["in"], rows);
  graph.connect(plain["in"][0], v[0]);
  graph.connect(plain["scale"], 0);
  graph.connect(plain["scale"], 1.5F);
  graph.setInitialValue(plain["n"], 0);
  graph.setInitialValue(plain["n"], true);
  graph.setInitialValue<float>(plain["table"], {1, 2, 3});
  graph.setInitialValue(plain["table"], ArrayRef<unsigned>{1, 2});
  graph.setInitialValueHalf(plain["h"], 0);
  graph.setTileMapping(plain, 0);
  graph.setPerfEstimate(plain, 20);
  graph.setPerfEstimate(plain, 20, 4);
  graph.setPerfEstimate(plain, {20, 4});
  graph.setCycleEstimate(listed, 20);
  graph.registerPerfEstimator(
      "Sum", [](const VertexIntrospector &vertex, const Target &machine) {
        std::size_t size = vertex.getFieldInfo("in").size();
        return size + machine.getNumTiles();
      });
  graph.registerPerfEstimator(
      "Dot", [](const VertexIntrospector &, const Target &) { return 5; });
  graph.addCodelets("codelets.cpp");
  graph.addCodelets("codelets.cpp", CodeletFileType::Auto, "-O3 -DX");
  graph.addCodelets({"a.cpp", "b.cpp"});
  graph.addCodelets({"a.cpp", "b.cpp"}, "-O3");
  graph.addCodelets(std::string("a.cpp"));
  std::stringstream source;
  graph.addCodelets(source);
  graph.addCodelets(source, "-O3");
  graph.addCodelets(source, "-O3", std::cerr);
  static_cast<void>(target);
}

std::vector<Program> control(Graph &graph) {
  Tensor v = graph.addVariable(INT, {1});
  Sequence body;
  RemoteBuffer buffer = graph.addRemoteBuffer("buffer", INT, 1);
  RemoteBuffer rows = graph.addRemoteBuffer("rows", INT, 1, 2);
  Function function = graph.addFunction(Sequence{body, body});
  Switch choose(v);
  choose.add(0, body);
  Sequence many;
  many.add_many(body, Copy(v, v));
  return {If(v, body, body),
          If{v, body, body, "name"},
          Switch(v, {{0, body}, {1, body}}),
          Switch(v, {{0, body}, {1, body}}, body),
          Switch(v, {{0, body}}, "name"),
          Switch(v, body),
          Switch(v, body, "name"),
          Switch(v, "name"),
          choose,
          many,
          Repeat{5, body},
          Repeat(5, body, {"name"}),
          RepeatWhileTrue(body, v, body),
          RepeatWhileFalse{body, v, body, "name"},
          Call(function),
          Call(function, "name"),
          Block(body, "name"),
          PrintTensor(v),
          PrintTensor("title", v),
          PrintTensor(std::string("title"), v, "name"),
          PrintTensor(v, PrintTensorFmt(10)),
          PrintTensor("title", v, PrintTensorFmt::disableFormatting()),
          Execute(graph.addComputeSet(), v),
          Execute(graph.addComputeSet(), "name"),
          Copy(buffer, v),
          Copy(buffer, v, "name"),
          Copy(rows, v, v),
          Copy(v, rows, v, "name"),
          Copy(v, buffer),
          Sync(SyncType::INTERNAL),
          CrossReplicaCopy(v, v, {{0, 1}, {1, 0}}),
          Abort(),
          Abort("message"),
          Abort(std::string("message"), "name"),
          AbortOnCondition(v),
          AbortOnCondition(v, "message"),
          ErrorProgram("message", v),
          Loop(body),
          AssumeEqualAcrossReplicas(v)};
}

Program execute(ComputeSet computeSet) {
  return Execute(computeSet);
}

struct Callback final : StreamCallback {
  Result prefetch(void *__restrict) noexcept override {
    return Result::NotAvailable;
  }
  void fetch(void *__restrict) noexcept override {}
  void complete() noexcept override {}
};

void engines(Graph &graph, const Device &device) {
  Sequence sequence;
  std::vector<Program> list(2, sequence);
  auto engine = Engine{graph, sequence, {{"k", "v"}}};
  Engine ofList(graph, list);
  Engine ofBraces(graph, {sequence, sequence}, {{"a", "b"}, {"c", "d"}});
  Engine ofExecutable(compileGraph(graph, {sequence}), {{"k", "v"}});
  Engine ofMoved(std::move(graph), sequence);
  engine.load(device);
  engine.run();
  std::vector<float> buffer(4);
  engine.connectStream("in", buffer.data());
  engine.connectStream("in", &buffer[0], &buffer[4]);
  engine.connectStreamToCallback("in", [](void *) {});
  engine.connectStreamToCallback("in", std::unique_ptr<Callback>(new Callback));
  engine.connectStreamToCallback("in", 0,
                                 std::unique_ptr<Callback>(new Callback));
  engine.writeTensor("t", buffer.data(), buffer.data() + buffer.size());
  engine.writeTensor<float>("t", buffer);
  engine.readTensor("t", buffer.data(), buffer.data() + buffer.size());
  engine.readTensor("t", buffer.data());
  engine.readTensor("t", buffer);
  engine.readTensor<float>("t", buffer);
  engine.connectStream("in", buffer);
  int value = 0;
  engine.connectStream("in", ArrayRef<int>(&value, 1));
  engine.copyToRemoteBuffer(buffer.data(), "b", 0, 0);
  engine.copyFromRemoteBuffer("b", buffer.data(), 0);
  engine.copyFromRemoteBuffer("b", buffer, 0, 1);
  engine.prepare(device, OptionFlags{{"target.syncMethod", "polling"}});
}

bool attachFirst(std::vector<Device> &devices) {
  auto found = std::find_if(devices.begin(), devices.end(),
                            [](Device &device) { return device.attach(); });
  return found != devices.end();
}

Graph fromDevice() {
  IPUModel model;
  Device device = model.createDevice();
  Graph graph(device);
  return graph;
}

void virtualGraphs(Graph &graph, Sequence &program) {
  Graph few = graph.createVirtualGraph(4);
  Graph range = graph.createVirtualGraph(0, 4);
  Graph listed = graph.createVirtualGraph({0, 4});
  Graph top = few.getTopLevelGraph();
  Tensor t = graph.addVariable(INT, {4});
  bool isComplete = false;
  graph.getTileMapping(t, &isComplete);
  graph.getTileMapping(t, false);
  graph.clone(t, "name", TensorCloneMethod::CREATE_NEW_ORDER);
  graph.cloneN(t, 3, "name");
  graph.getSortedContiguousRegions(t, {{0, 2}, {3, 4}});
  Tensor u = t;
  graph.reorderToSimplify(&t, {&u});
  graph.reorderToSimplify(&t, {});
  cycleCount(graph, program, 0, SyncType::INTERNAL, "name");
  setHwSeeds(graph, getHwSeeds(graph, program), program);
  setFloatingPointBehaviour(graph, program, {true, true, true, false, true});
  graph.addReplicationIndexConstant();
}
