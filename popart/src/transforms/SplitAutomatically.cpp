// Cuts the schedule where one tensor crosses, nearest to the shares of the cost
// that are wanted.
#include <transforms/SplitAutomatically.hpp>

#include <autodiff/Autodiff.hpp>
#include <ir/GraphEditor.hpp>
#include <popart/error.hpp>
#include <support/Error.hpp>
#include <transforms/Passes.hpp>

#include <cmath>
#include <set>

namespace popart {
namespace {

bool isWeight(const Tensor &tensor) {
  return tensor.type == TensorType::Variable ||
         tensor.type == TensorType::Const;
}

// Which tensors the backward operations of each forward operation read, by the
// forward operation's place: found by differentiating a copy whose operations
// are named by their places, because backward ones take over names.
std::vector<std::set<TensorId>> keptFor(PassContext &context) {
  std::vector<std::set<TensorId>> kept(context.graph.getOps().size());
  if (!context.ir.isTraining()) {
    return kept;
  }
  checkLoss(context);
  Ir trial;
  trial.loss = context.ir.loss;
  trial.optimizer = context.ir.optimizer;
  Graph &graph = trial.getMainGraph();
  GraphEditor(graph).copyFrom(context.graph);
  std::size_t place = 0;
  for (const auto &op : graph.getOps()) {
    op->settings.name = std::to_string(place++);
  }
  differentiate(trial);
  for (const auto &op : graph.getOps()) {
    if (op->settings.isBackward) {
      kept.at(std::stoul(op->settings.name))
          .insert(op->inputs.begin(), op->inputs.end());
    }
  }
  return kept;
}

// Bytes of weights, twice with an accumulator beside each, and when training
// the activations that the backward pass keeps; a tensor counts once.
std::vector<double> costsOf(PassContext &context) {
  double weightFactor =
      context.ir.sessionOptions.enableGradientAccumulation ? 2 : 1;
  std::vector<std::set<TensorId>> kept = keptFor(context);
  std::set<TensorId> counted;
  std::vector<double> costs;
  for (const auto &op : context.graph.getOps()) {
    double cost = 0;
    std::vector<TensorId> ids = op->inputs;
    ids.insert(ids.end(), op->outputs.begin(), op->outputs.end());
    for (const TensorId &id : ids) {
      if (id.empty()) {
        continue;
      }
      const Tensor &tensor = context.graph.getTensor(id);
      if ((isWeight(tensor) || kept[costs.size()].count(id) > 0) &&
          counted.insert(id).second) {
        cost += static_cast<double>(tensor.info.nbytes()) *
                (isWeight(tensor) ? weightFactor : 1);
      }
    }
    costs.push_back(cost);
  }
  return costs;
}

// The share of the whole cost that each IPU and those before it have.
std::vector<double> sharesOf(const PassContext &context) {
  const auto &ratios = context.ir.sessionOptions.virtualGraphSplitRatios;
  std::vector<double> shares;
  if (ratios.empty() || context.ipus == 1) {
    for (int ipu = 0; ipu < context.ipus; ++ipu) {
      shares.push_back(static_cast<double>(ipu + 1) / context.ipus);
    }
    return shares;
  }
  support::requireUser<error>(
      ratios.size() == static_cast<std::size_t>(context.ipus),
      "virtualGraphSplitRatios has {} ratios; there must be one for each of "
      "the {} IPUs",
      ratios.size(), context.ipus);
  double sum = 0;
  for (float ratio : ratios) {
    support::requireUser<error>(0 < ratio && ratio < 1,
                                "virtualGraphSplitRatios has {}; each ratio "
                                "must be between 0 and 1",
                                ratio);
    sum += double{ratio};
    shares.push_back(sum);
  }
  support::requireUser<error>(std::abs(sum - 1) < 1e-5,
                              "The sum of virtualGraphSplitRatios is {}; it "
                              "must be 1",
                              sum);
  return shares;
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

std::vector<int> splitSchedule(PassContext &context,
                               const std::vector<double> &shares,
                               const char *what) {
  std::vector<double> costs = costsOf(context);
  std::vector<bool> cuts = cutsOf(context.graph);
  double total = 0;
  for (double &cost : costs) {
    total += cost;
    cost = total;
  }
  std::vector<std::size_t> ends;
  std::size_t start = 0;
  for (std::size_t piece = 0; piece + 1 < shares.size(); ++piece) {
    double target = total * shares[piece];
    std::size_t best = costs.size();
    for (std::size_t i = start; i + 1 < costs.size(); ++i) {
      if (cuts[i] &&
          (best == costs.size() ||
           std::abs(costs[i] - target) < std::abs(costs[best] - target))) {
        best = i;
      }
    }
    support::requireUser<error>(best < costs.size(),
                                "Couldn't find enough splits for {} {}",
                                shares.size(), what);
    ends.push_back(best);
    start = best + 1;
  }
  std::vector<int> pieces;
  std::size_t piece = 0;
  for (std::size_t index = 0; index < costs.size(); ++index) {
    pieces.push_back(static_cast<int>(piece));
    piece += piece < ends.size() && index == ends[piece] ? 1 : 0;
  }
  return pieces;
}

void splitAutomatically(PassContext &context) {
  std::vector<int> pieces = splitSchedule(context, sharesOf(context), "IPUs");
  auto piece = pieces.begin();
  for (const auto &op : context.graph.getOps()) {
    op->settings.vgraphId = *piece++;
  }
}

} // namespace popart
