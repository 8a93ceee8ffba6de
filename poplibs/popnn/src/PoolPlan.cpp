#include <popnn/internal/PoolPlan.hpp>

#include <optional>
#include <vector>

namespace popnn::internal {

using kernels::cost::ceilDiv;
using kernels::cost::TileSpec;

namespace {

// The smallest number of parts for each size that parts of `n` can have.
std::vector<std::uint64_t> splitsOf(std::uint64_t n, std::uint64_t most) {
  std::vector<std::uint64_t> splits;
  for (std::uint64_t parts = 1; parts <= std::min(n, most);) {
    splits.push_back(parts);
    const auto share = ceilDiv(n, parts);
    if (share == 1) {
      break;
    }
    parts = ceilDiv(n, share - 1);
  }
  return splits;
}

void price(const TileSpec &tile, const PoolProblem &problem, PoolPlan &plan) {
  const auto groups = ceilDiv(problem.channels, plan.chansPerGroup);
  auto &share = plan.share;
  share.type = problem.type;
  share.pass = problem.pass;
  share.rows = ceilDiv(problem.batch, plan.batchSplit) *
               ceilDiv(problem.rows, plan.rowSplit);
  share.rowLength = ceilDiv(problem.columns, plan.columnSplit);
  share.windowElements = problem.windowElements;
  share.channels = plan.chansPerGroup;
  share.channelGroups = ceilDiv(groups, plan.channelSplit);
  const auto channels = share.channels * share.channelGroups;
  // The part of the operand below the results; windows that overlap a
  // neighbour's add little.
  const auto results = share.rows * share.rowLength * channels;
  const auto perResult =
      static_cast<double>(problem.inputElements) /
      static_cast<double>(problem.batch * problem.rows * problem.columns *
                          problem.channels);
  plan.inputBytes =
      static_cast<std::uint64_t>(static_cast<double>(results) * perResult) *
      support::sizeOf(problem.type);
  const bool regroups = problem.operandChansPerGroup != 0 &&
                        problem.operandChansPerGroup != plan.chansPerGroup;
  plan.cycles = kernels::cost::pooling(tile, share) +
                ceilDiv(plan.inputBytes, 4) +
                (regroups ? plan.inputBytes / 4 : 0);
}

} // namespace

PoolPlan planPool(const TileSpec &tile, const PoolProblem &problem,
                  unsigned tiles) {
  std::optional<PoolPlan> best;
  PoolPlan plan;
  const auto width = vectorWidth(tile, problem.type);
  for (auto chans = width; chans <= 4 * width; chans += width) {
    plan.chansPerGroup = chans;
    for (const auto batch : splitsOf(problem.batch, tiles)) {
      plan.batchSplit = batch;
      for (const auto groups :
           splitsOf(ceilDiv(problem.channels, chans), tiles / batch)) {
        plan.channelSplit = groups;
        for (const auto rows :
             splitsOf(problem.rows, tiles / (batch * groups))) {
          plan.rowSplit = rows;
          // The finest cut of the columns that tiles are left for.
          const auto columns =
              splitsOf(problem.columns,
                       tiles / plan.batchSplit / plan.channelSplit / rows);
          plan.columnSplit = columns.back();
          price(tile, problem, plan);
          if (!best || plan.cycles < best->cycles) {
            best = plan;
          }
        }
      }
    }
    if (chans >= problem.channels) {
      break; // wider groups would only be padded
    }
  }
  return *best;
}

} // namespace popnn::internal
