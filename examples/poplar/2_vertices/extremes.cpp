// Lesson 2: computing with vertices of your own.
// Rows of numbers are searched side by side, then one vertex joins the results.
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>

#include <iostream>
#include <string>
#include <vector>

using namespace poplar;
using namespace poplar::program;

int main(int argc, char **argv) {
  IPUModel model;
  Device device = model.createDevice();
  Graph graph(device);

  // A source file is compiled now, for the target of this graph. To compile
  // before: popc extremes_codelets.cpp -o extremes.gp, and name that file.
  const std::string codelets = argc > 1 ? argv[1] : "extremes_codelets.cpp";
  graph.addCodelets(codelets);

  const std::vector<float> values{3, 1, 4, 1, 5, //
                                  9, 2, 6, 5, 3, //
                                  5, 8, 9, 7, -9.5};
  const unsigned numRows = 3;
  Tensor rows = graph.addConstant<float>(FLOAT, {numRows, 5}, values, "rows");
  Tensor least = graph.addVariable(FLOAT, {numRows}, "least");
  Tensor greatest = graph.addVariable(FLOAT, {numRows}, "greatest");
  Tensor gap = graph.addVariable(FLOAT, {}, "gap");

  // The vertices of one compute set run at the same time: they may not need
  // each other's results. One for each row, on the tile that has the row.
  ComputeSet search = graph.addComputeSet("search");
  for (unsigned i = 0; i < numRows; ++i) {
    VertexRef vertex = graph.addVertex(search, "Extremes");
    graph.connect(vertex["values"], rows[i]);
    graph.connect(vertex["least"], least[i]);
    graph.connect(vertex["greatest"], greatest[i]);
    for (const Tensor &data : {rows[i], least[i], greatest[i]}) {
      graph.setTileMapping(data, i);
    }
    graph.setTileMapping(vertex, i);
    // The model counts cycles by what you say a vertex takes.
    graph.setPerfEstimate(vertex, 20);
  }

  // What needs those results goes into another set. Its data comes from three
  // tiles to one: the exchange is not written down, it follows from the
  // mapping.
  ComputeSet join = graph.addComputeSet("join");
  VertexRef widest = graph.addVertex(
      join, "WidestGap", {{"from", least}, {"to", greatest}, {"gap", gap}});
  graph.setInitialValue(widest["scale"], 10.0f);
  graph.setTileMapping(widest, numRows);
  graph.setTileMapping(gap, numRows);
  graph.setPerfEstimate(widest, 15);

  graph.createHostRead("least", least);
  graph.createHostRead("greatest", greatest);
  graph.createHostRead("gap", gap);

  Engine engine(graph, Sequence{Execute(search), Execute(join)});
  engine.load(device);
  engine.run();

  std::vector<float> low(numRows), high(numRows);
  float scaledGap = 0;
  engine.readTensor("least", low.data(), low.data() + numRows);
  engine.readTensor("greatest", high.data(), high.data() + numRows);
  engine.readTensor("gap", &scaledGap, &scaledGap + 1);
  for (unsigned i = 0; i < numRows; ++i) {
    std::cout << "row " << i << ": " << low[i] << " to " << high[i] << '\n';
  }
  std::cout << "ten times the widest gap: " << scaledGap << '\n';
}
