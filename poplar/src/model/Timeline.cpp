// Runs a program on one clock per IPU.
#include "model/Timeline.hpp"

#include "model/Constants.hpp"
#include <support/Error.hpp>

#include <algorithm>
#include <limits>

namespace poplar::model {

using namespace internal;

namespace {

constexpr unsigned notUsed = std::numeric_limits<unsigned>::max();

// Iterations simulated before a loop that has found no rhythm is extrapolated
// from its last iteration.
constexpr std::size_t maxSimulatedIterations = 64;

} // namespace

void IpuCosts::addDifference(const IpuCosts &from, const IpuCosts &to,
                             std::uint64_t factor) {
  const auto add = [&](std::uint64_t IpuCosts::*field) {
    this->*field += factor * (to.*field - from.*field);
  };
  add(&IpuCosts::compute);
  add(&IpuCosts::exchange);
  add(&IpuCosts::globalExchange);
  add(&IpuCosts::hostExchange);
  add(&IpuCosts::sync);
  add(&IpuCosts::control);
  add(&IpuCosts::wait);
  add(&IpuCosts::tileCompute);
  add(&IpuCosts::threadCycles);
  add(&IpuCosts::tileExchange);
  add(&IpuCosts::sharedSyncs);
}

void ExecutionCost::add(const ExecutionCost &other, std::uint64_t times) {
  total += times * other.total;
  ipus.resize(std::max(ipus.size(), other.ipus.size()));
  for (std::size_t ipu = 0; ipu < other.ipus.size(); ++ipu) {
    ipus[ipu].addDifference({}, other.ipus[ipu], times);
  }
}

Timeline::Timeline(StepTable &steps) : steps_(steps) {}

ExecutionCost Timeline::run(const ProgramPtr &program) {
  state_ = {};
  state_.costs.resize(steps_.ipus());
  state_.isAfterCopy.resize(steps_.ipus(), 0);
  latestEnd_ = 0;
  if (program) {
    runNode(*program);
  }
  ExecutionCost result;
  for (const IpuCosts &ipu : state_.costs) {
    result.total = std::max(result.total, ipu.clock());
  }
  result.ipus = state_.costs;
  for (IpuCosts &ipu : result.ipus) {
    ipu.wait += result.total - ipu.clock();
  }
  return result;
}

void Timeline::runNode(const ProgramNode &node) {
  if (const auto *sequence = std::get_if<SequenceNode>(&node.op)) {
    for (const ProgramPtr &child : sequence->children) {
      if (child) {
        runNode(*child);
      }
    }
  } else if (const auto *repeat = std::get_if<RepeatNode>(&node.op)) {
    runRepeat(*repeat);
  } else {
    for (const Step &step : steps_.stepsOf(node)) {
      runStep(step);
    }
  }
}

void Timeline::runStep(const Step &step) {
  if (step.costs.empty()) {
    return;
  }
  if (step.kind == StepKind::GlobalExchange) {
    joinIpus(step);
  }
  std::uint64_t start = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t end = 0;
  for (const IpuStepCost &cost : step.costs) {
    start = std::min(start, state_.costs[cost.ipu].clock());
    runOnIpu(step, cost);
    end = std::max(end, state_.costs[cost.ipu].clock());
  }
  overlaps_.resize(std::max(overlaps_.size(), step.id + 1));
  overlaps_[step.id] =
      start < latestEnd_ ? std::min(end, latestEnd_) - start : 0;
  latestEnd_ = std::max(latestEnd_, end);
}

void Timeline::runOnIpu(const Step &step, const IpuStepCost &cost) {
  const TargetData &target = steps_.target();
  IpuCosts &ipu = state_.costs[cost.ipu];
  char &isAfterCopy = state_.isAfterCopy[cost.ipu];
  if (step.kind == StepKind::GlobalExchange) {
    ipu.sync += target.globalSyncCycles;
  } else if (step.kind == StepKind::Exchange && isAfterCopy) {
    ipu.sharedSyncs += 1;
  } else {
    ipu.sync +=
        target.hasRelativeSyncDelay ? target.maxSyncDelay : target.minSyncDelay;
  }
  isAfterCopy = step.isCopy();
  ipu.exchange += cost.exchange;
  ipu.compute += cost.compute;
  ipu.globalExchange += cost.globalExchange;
  ipu.hostExchange += cost.hostExchange;
  ipu.tileExchange += cost.tileExchange;
  ipu.tileCompute += cost.tileCompute;
  ipu.threadCycles += cost.threadCycles;
}

void Timeline::joinIpus(const Step &step) {
  std::uint64_t latest = 0;
  for (const IpuStepCost &cost : step.costs) {
    latest = std::max(latest, state_.costs[cost.ipu].clock());
  }
  for (const IpuStepCost &cost : step.costs) {
    IpuCosts &ipu = state_.costs[cost.ipu];
    ipu.wait += latest - ipu.clock();
  }
}

// Simulates iterations until the state repeats, up to a shift in time of each
// group of joined IPUs. A step only compares clocks inside a group, so what
// follows is the same period again and again: the rest is a product.
void Timeline::runRepeat(const RepeatNode &repeat) {
  if (!repeat.body) {
    return;
  }
  const Groups groups = groupsOf(*repeat.body);
  std::vector<State> history; // at the start of each iteration
  while (history.size() < repeat.count) {
    history.push_back(state_);
    runIteration(repeat, groups);
    const std::uint64_t left = repeat.count - history.size();
    std::size_t period = 1;
    while (period <= history.size() &&
           !isShifted(history[history.size() - period], groups)) {
      ++period;
    }
    if (period > history.size()) {
      if (history.size() < maxSimulatedIterations) {
        continue;
      }
      period = 1;
    }
    skipIterations(history[history.size() - period], left / period);
    for (std::uint64_t rest = left % period; rest > 0; --rest) {
      runIteration(repeat, groups);
    }
    return;
  }
}

void Timeline::runIteration(const RepeatNode &repeat, const Groups &groups) {
  for (std::size_t ipu = 0; ipu < groups.size(); ++ipu) {
    if (groups[ipu] != notUsed) {
      state_.costs[ipu].control += repeatIterationCycles;
    }
  }
  runNode(*repeat.body);
}

void Timeline::skipIterations(const State &before, std::uint64_t times) {
  const std::vector<IpuCosts> after = state_.costs;
  for (std::size_t ipu = 0; ipu < after.size(); ++ipu) {
    state_.costs[ipu].addDifference(before.costs[ipu], after[ipu], times);
    latestEnd_ = std::max(latestEnd_, state_.costs[ipu].clock());
  }
}

bool Timeline::isShifted(const State &before, const Groups &groups) const {
  if (before.isAfterCopy != state_.isAfterCopy) {
    return false;
  }
  for (std::size_t ipu = 0; ipu < groups.size(); ++ipu) {
    const std::size_t other = groups[ipu];
    if (other == notUsed) {
      continue;
    }
    const auto shift = [&](std::size_t i) {
      return state_.costs[i].clock() - before.costs[i].clock();
    };
    if (shift(ipu) != shift(other)) {
      return false;
    }
  }
  return true;
}

Timeline::Groups Timeline::groupsOf(const ProgramNode &node) {
  Groups groups(steps_.ipus(), notUsed);
  collectGroups(node, groups);
  return groups;
}

void Timeline::collectGroups(const ProgramNode &node, Groups &groups) {
  if (const auto *sequence = std::get_if<SequenceNode>(&node.op)) {
    for (const ProgramPtr &child : sequence->children) {
      if (child) {
        collectGroups(*child, groups);
      }
    }
    return;
  }
  if (const auto *repeat = std::get_if<RepeatNode>(&node.op)) {
    if (repeat->body && repeat->count != 0) {
      collectGroups(*repeat->body, groups);
    }
    return;
  }
  for (const Step &step : steps_.stepsOf(node)) {
    for (const IpuStepCost &cost : step.costs) {
      if (groups[cost.ipu] == notUsed) {
        groups[cost.ipu] = cost.ipu;
      }
      if (step.kind == StepKind::GlobalExchange) {
        const unsigned from = groups[step.costs.front().ipu];
        std::replace(groups.begin(), groups.end(), groups[cost.ipu], from);
      }
    }
  }
}

} // namespace poplar::model
