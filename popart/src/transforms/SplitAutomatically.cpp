// Cuts the schedule where one tensor crosses, nearest to equal shares of cost.
#include <transforms/SplitAutomatically.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>

#include <cmath>
#include <set>

namespace popart {
namespace {

bool isWeight(const Tensor &tensor) {
  return tensor.type == TensorType::Variable ||
         tensor.type == TensorType::Const;
}

// Bytes of weights, twice with an accumulator beside each, and when training
// the activations that the backward pass keeps; a tensor counts once.
std::vector<double> costsOf(const PassContext &context) {
  double weightFactor =
      context.ir.sessionOptions.enableGradientAccumulation ? 2 : 1;
  std::set<TensorId> counted;
  std::vector<double> costs;
  for (const auto &op : context.graph.getOps()) {
    double cost = 0;
    for (const TensorId &id : op->inputs) {
      if (!id.empty() && counted.insert(id).second) {
        const Tensor &tensor = context.graph.getTensor(id);
        auto bytes = static_cast<double>(tensor.info.nbytes());
        cost += isWeight(tensor)          ? bytes * weightFactor
                : context.ir.isTraining() ? bytes
                                          : 0;
      }
    }
    costs.push_back(cost);
  }
  return costs;
}

// cut[i]: the schedule can be cut after operation i, because at most one
// computed tensor is still needed there.
std::vector<bool> cutsOf(const Graph &graph) {
  std::map<const Op *, std::size_t> position;
  for (const auto &op : graph.getOps()) {
    position.emplace(op.get(), position.size());
  }
  std::vector<int> live(position.size() + 1, 0);
  for (const TensorId &id : graph.getTensorIds()) {
    const Tensor &tensor = graph.getTensor(id);
    if (!tensor.producer) {
      continue;
    }
    std::size_t last = position.at(tensor.producer);
    std::size_t first = last;
    for (const Op *consumer : tensor.consumers) {
      last = std::max(last, position.at(consumer));
    }
    ++live[first];
    --live[last];
  }
  std::vector<bool> cuts;
  int crossing = 0;
  for (std::size_t i = 0; i < position.size(); ++i) {
    crossing += live[i];
    cuts.push_back(crossing <= 1);
  }
  return cuts;
}

} // namespace

void splitAutomatically(PassContext &context) {
  std::vector<double> costs = costsOf(context);
  std::vector<bool> cuts = cutsOf(context.graph);
  double total = 0;
  for (double &cost : costs) {
    total += cost;
    cost = total;
  }
  std::vector<std::size_t> ends;
  std::size_t start = 0;
  for (int ipu = 0; ipu + 1 < context.ipus; ++ipu) {
    double target = total * (ipu + 1) / context.ipus;
    std::size_t best = costs.size();
    for (std::size_t i = start; i + 1 < costs.size(); ++i) {
      if (cuts[i] &&
          (best == costs.size() ||
           std::abs(costs[i] - target) < std::abs(costs[best] - target))) {
        best = i;
      }
    }
    support::requireUser<error>(best < costs.size(),
                                "Couldn't find enough splits for {} IPUs",
                                context.ipus);
    ends.push_back(best);
    start = best + 1;
  }
  std::size_t index = 0;
  std::size_t ipu = 0;
  for (const auto &op : context.graph.getOps()) {
    op->settings.vgraphId = static_cast<VGraphId>(ipu);
    ipu += ipu < ends.size() && index == ends[ipu] ? 1 : 0;
    ++index;
  }
}

} // namespace popart
