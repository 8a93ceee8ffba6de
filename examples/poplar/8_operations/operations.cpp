// Lesson 8: operations of the libraries instead of vertices of your own.
//
// Four students sat four tests, which do not weigh the same. The device works
// out their marks, how far each is from the mean, and who passed.
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplin/MatMul.hpp>
#include <poplin/codelets.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>

#include <iostream>
#include <string>
#include <vector>

using namespace poplar;
using namespace poplar::program;

int main() {
  IPUModel model;
  Device device = model.createDevice();
  Graph graph(device);
  // Vertices of a library are added once per graph, like your own.
  popops::addCodelets(graph);
  poplin::addCodelets(graph);

  const unsigned students = 4, tests = 4;
  Tensor points = graph.addVariable(FLOAT, {students, tests}, "points");
  Tensor weights = graph.addVariable(FLOAT, {tests, 1}, "weights");
  // An even spread over tiles is a fair guess. Products know better where their
  // operands should lie: createMatMulInputLHS() makes a tensor that suits one.
  poputil::mapTensorLinearly(graph, points);
  poputil::mapTensorLinearly(graph, weights);
  graph.createHostWrite("points", points);
  graph.createHostWrite("weights", weights);

  // A library function appends to the program what it needs and returns a new
  // tensor that lies on tiles already.
  Sequence program;
  Tensor marks = poplin::matMul(graph, points, weights, program, "marks");
  marks = marks.flatten();
  program.add(PrintTensor("marks", marks));

  // A reduction makes dimensions vanish. The scale is a tensor: it might change
  // from run to run.
  Tensor share = graph.addConstant(FLOAT, {}, 1.0f / students);
  graph.setTileMapping(share, 0);
  Tensor mean =
      popops::reduce(graph, marks, {0}, {popops::Operation::ADD, false, share},
                     program, "mean");
  Tensor best = popops::reduce(graph, points, {0}, popops::Operation::MAX,
                               program, "best");
  program.add(PrintTensor("best of each test", best));

  // Shapes are broadcast as NumPy does: the mean is a scalar.
  Tensor distance = popops::sub(graph, marks, mean, program, "distance");
  program.add(PrintTensor("distance from the mean", distance));

  // A whole formula is one expression and becomes one vertex per share of the
  // tensor, with nothing stored in between: here the square of the distance,
  // keeping its sign. _1 stands for the first tensor of the list.
  using namespace popops::expr;
  Tensor spread = popops::map(graph, Mul(_1, Abs(_1)), {distance}, program);
  program.add(PrintTensor("spread", spread));

  // Comparisons give BOOL, and InPlace writes to the tensor that is given.
  popops::addInPlace(graph, marks, 0.5f, program, "be kind");
  Tensor passed = popops::gteq(graph, marks, 10.0f, program, "passed");
  graph.createHostRead("passed", passed);

  Engine engine(graph, program);
  engine.load(device);
  const std::vector<float> p{12, 8,  10, 14, // a row for each student
                             6,  10, 12, 10, //
                             18, 14, 16, 20, //
                             8,  8,  12, 6};
  const std::vector<float> w{0.125f, 0.125f, 0.25f, 0.5f};
  engine.writeTensor("points", p.data(), p.data() + p.size());
  engine.writeTensor("weights", w.data(), w.data() + w.size());
  engine.run();
  std::vector<char> result(students);
  engine.readTensor("passed", result.data(), result.data() + result.size());
  for (unsigned i = 0; i < students; ++i) {
    std::cout << "student " << i << (result[i] ? " passed\n" : " failed\n");
  }
}
