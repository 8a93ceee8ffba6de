// Lesson 6: loops, branches and functions that the device decides about.
//
// Collatz's rule halves an even number and turns an odd n into 3n + 1. The
// device counts how many steps lead to 1, and sorts the counts into groups.
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>

#include <iostream>
#include <utility>
#include <vector>

using namespace poplar;
using namespace poplar::program;

Tensor addScalar(Graph &graph, const Type &type, const char *name) {
  Tensor scalar = graph.addVariable(type, {}, name);
  graph.setTileMapping(scalar, 0);
  return scalar;
}

Tensor addConstant(Graph &graph, int value) {
  Tensor constant = graph.addConstant(INT, {}, value);
  graph.setTileMapping(constant, 0);
  return constant;
}

// A compute set of one vertex on tile 0; `values` are for its plain fields.
Program runVertex(Graph &graph, const char *type,
                  const std::vector<std::pair<const char *, Tensor>> &edges,
                  const std::vector<std::pair<const char *, int>> &values) {
  ComputeSet computeSet = graph.addComputeSet(type);
  VertexRef vertex = graph.addVertex(computeSet, type);
  for (const auto &edge : edges) {
    graph.connect(vertex[edge.first], edge.second);
  }
  for (const auto &value : values) {
    graph.setInitialValue(vertex[value.first], value.second);
  }
  graph.setTileMapping(vertex, 0);
  graph.setPerfEstimate(vertex, 10);
  return Execute(computeSet);
}

int main() {
  IPUModel model;
  Device device = model.createDevice();
  Graph graph(device);
  graph.addCodelets("collatz_codelets.cpp");

  Tensor number = addScalar(graph, INT, "number");
  Tensor steps = addScalar(graph, INT, "steps");
  Tensor isAboveOne = addScalar(graph, BOOL, "isAboveOne");
  Tensor isOdd = addScalar(graph, INT, "isOdd");
  Tensor remainder = addScalar(graph, INT, "remainder");
  Tensor group = addScalar(graph, INT, "group");

  // The code of a function is in the machine once, however often it is called.
  Function halve = graph.addFunction(
      runVertex(graph, "Change", {{"number", number}},
                {{"factor", 1}, {"divisor", 2}, {"increment", 0}}));
  Function tripleAndOne = graph.addFunction(
      runVertex(graph, "Change", {{"number", number}},
                {{"factor", 3}, {"divisor", 1}, {"increment", 1}}));
  Function count = graph.addFunction(
      runVertex(graph, "Change", {{"number", steps}},
                {{"factor", 1}, {"divisor", 1}, {"increment", 1}}));

  // The branch is taken on the device, by the value that isOdd has then.
  Sequence step{runVertex(graph, "Remainder",
                          {{"number", number}, {"result", isOdd}},
                          {{"divisor", 2}}),
                If(isOdd, Call(tripleAndOne), Call(halve)), Call(count)};

  // Before each round, the first program computes what decides about it.
  RepeatWhileTrue reachOne(
      runVertex(graph, "IsAboveOne",
                {{"number", number}, {"result", isAboveOne}}, {}),
      isAboveOne, step);

  // A switch runs the program of the value that it finds, or the default.
  Switch chooseGroup(remainder, Copy(addConstant(graph, 300), group));
  chooseGroup.add(0, Copy(addConstant(graph, 100), group));
  chooseGroup.add(1, Copy(addConstant(graph, 200), group));

  DataStream starts = graph.addHostToDeviceFIFO("starts", INT, 1);
  DataStream stepsOut = graph.addDeviceToHostFIFO("steps", INT, 1);
  DataStream groupsOut = graph.addDeviceToHostFIFO("groups", INT, 1);
  std::vector<int> numbers{1, 6, 7, 27};
  // The length of this loop is known when compiling: that is Repeat.
  Repeat all(numbers.size(),
             Sequence{Copy(starts, number), Copy(addConstant(graph, 0), steps),
                      reachOne,
                      runVertex(graph, "Remainder",
                                {{"number", steps}, {"result", remainder}},
                                {{"divisor", 3}}),
                      chooseGroup, Copy(steps, stepsOut),
                      Copy(group, groupsOut)});

  Engine engine(graph, all);
  engine.load(device);
  std::vector<int> counts(numbers.size()), groups(numbers.size());
  engine.connectStream("starts", numbers.data(),
                       numbers.data() + numbers.size());
  engine.connectStream("steps", counts.data(), counts.data() + counts.size());
  engine.connectStream("groups", groups.data(), groups.data() + groups.size());
  engine.run();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::cout << numbers[i] << ": " << counts[i] << " steps, group "
              << groups[i] << '\n';
  }
}
