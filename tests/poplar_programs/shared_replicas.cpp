// Instances of one program, each with a share of the replicas of a graph: what
// replicas add up spans all of them. Run it with poprun.
#include <gcl/Collectives.hpp>
#include <popdist/backend.hpp>
#include <popdist/collectives.hpp>
#include <popdist/context.hpp>
#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>
#include <popops/codelets.hpp>

#include <iostream>
#include <string>
#include <vector>

using namespace poplar;

static Device deviceOf(unsigned ipus) {
  IPUModel model;
  model.numIPUs = ipus;
  return model.createDevice();
}

int main() {
  popdist::registerDefaultBackend();
  popdist::initializeBackend();
  const unsigned first = popdist::getReplicaIndexOffset();
  const unsigned local = popdist::getNumLocalReplicas();
  const unsigned total = popdist::getNumTotalReplicas();

  // The graph is that of all replicas, in every instance.
  Graph graph(deviceOf(total).getTarget(), replication_factor(total));
  popops::addCodelets(graph);
  Tensor x = graph.addVariable(FLOAT, {2}, "x");
  graph.setTileMapping(x, 0);
  graph.createHostWrite("x", x);
  graph.createHostRead("x", x);
  program::Sequence sum;
  gcl::allReduceInPlaceCrossReplica(graph, x, gcl::CollectiveOperator::ADD,
                                    sum);

  Engine engine(graph, sum,
                {{"target.syncReplicasIndependently", "true"},
                 {"target.firstRuntimeReplica", std::to_string(first)},
                 {"target.numberRuntimeReplica", std::to_string(local)}});
  engine.load(deviceOf(local));
  std::vector<float> values;
  for (unsigned i = first; i < first + local; ++i) {
    values.push_back(1.0f + i);
    values.push_back(10.0f * (1.0f + i));
  }
  engine.writeTensor("x", values.data(), values.data() + values.size());
  popdist::run(engine, 0);
  engine.readTensor("x", values.data(), values.data() + values.size());

  float all = values.at(0);
  popdist::collectives::allReduceSum(&all, 1, FLOAT);
  std::cout << "replica " << first << ": " << values.at(0) << " "
            << values.at(1) << ", instances " << all << "\n";
  popdist::finalizeBackend();
  return 0;
}
