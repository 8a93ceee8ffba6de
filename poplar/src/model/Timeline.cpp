// Runs a program on the clocks of its IPUs.
#include "model/Timeline.hpp"

#include "model/Constants.hpp"
#include "program/VisitPrograms.hpp"
#include <support/Error.hpp>

#include <algorithm>
#include <limits>

namespace poplar::model {

using internal::ProgramNode;
using internal::ProgramPtr;
using internal::TargetData;

namespace {

constexpr unsigned notUsed = std::numeric_limits<unsigned>::max();

// Iterations simulated before a loop that has found no rhythm is extrapolated
// from its last iteration.
constexpr std::size_t maxSimulatedIterations = 64;

} // namespace

void IpuCosts::addDifference(const IpuCosts &from, const IpuCosts &to,
                             Frequency factor) {
  const auto add = [&](std::uint64_t IpuCosts::*field) {
    const std::uint64_t difference = to.*field - from.*field;
    this->*field += (factor.times * difference + factor.of / 2) / factor.of;
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
    ipus[ipu].addDifference({}, other.ipus[ipu], {times, 1});
  }
}

Timeline::Timeline(StepTable &steps) : steps_(steps) {}

ExecutionCost Timeline::run(const ProgramPtr &program) {
  state_ = {};
  state_.costs.resize(lanes());
  state_.last.resize(lanes(), LastStep::Other);
  state_.unseen.resize(lanes());
  latestEnd_ = 0;
  if (program) {
    runNode(*program);
  }
  if (steps_.hasTransferTiles()) {
    for (unsigned ipu = 0; ipu < steps_.ipus(); ++ipu) {
      joinLanes(ipu);
      state_.costs[ipu].tileExchange +=
          state_.costs[transferLane(ipu)].tileExchange;
    }
    state_.costs.resize(steps_.ipus());
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

std::size_t Timeline::lanes() const {
  return std::size_t{steps_.ipus()} * (steps_.hasTransferTiles() ? 2 : 1);
}

void Timeline::runNode(const ProgramNode &node) {
  if (std::holds_alternative<internal::RepeatNode>(node.op) ||
      std::holds_alternative<internal::WhileNode>(node.op)) {
    runLoop(node);
    return;
  }
  if (std::holds_alternative<internal::CallNode>(node.op)) {
    addControl(groupsOf(node), callCycles);
  }
  runSteps(node);
  for (const Part &part : partsOf(steps_, node)) {
    runShare(part.frequency, [&] { runNode(*part.program); });
  }
}

void Timeline::runSteps(const ProgramNode &node) {
  for (const Step &step : steps_.stepsOf(node)) {
    runStep(step);
  }
}

// An average run: what one would cost, in proportion. The clocks still are the
// sums of their phases.
void Timeline::runShare(Frequency share, const std::function<void()> &run) {
  if (share.times == 0) {
    return;
  }
  if (share.times == share.of) {
    run();
    return;
  }
  const std::vector<IpuCosts> before = state_.costs;
  const std::uint64_t latestBefore = latestEnd_;
  run();
  latestEnd_ = latestBefore;
  for (std::size_t ipu = 0; ipu < before.size(); ++ipu) {
    IpuCosts average = before[ipu];
    average.addDifference(before[ipu], state_.costs[ipu], share);
    state_.costs[ipu] = average;
    latestEnd_ = std::max(latestEnd_, average.clock());
  }
}

void Timeline::runStep(const Step &step) {
  if (step.costs.empty()) {
    return;
  }
  const bool isForAllTiles = step.lane == Lane::Both;
  for (const IpuStepCost &cost : step.costs) {
    if (isForAllTiles) {
      joinLanes(cost.ipu);
    }
  }
  if (step.isGlobal()) {
    joinIpus(step);
  }
  std::uint64_t start = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t end = 0;
  for (const IpuStepCost &cost : step.costs) {
    const IpuCosts &lane = state_.costs[laneOf(step, cost.ipu)];
    start = std::min(start, lane.clock());
    runInLane(step, cost);
    end = std::max(end, lane.clock());
    if (isForAllTiles) {
      joinLanes(cost.ipu);
      state_.last[transferLane(cost.ipu)] = LastStep::Other;
    }
  }
  overlaps_.resize(std::max(overlaps_.size(), step.id + 1));
  overlaps_[step.id] =
      start < latestEnd_ ? std::min(end, latestEnd_) - start : 0;
  latestEnd_ = std::max(latestEnd_, end);
}

// The computing tiles wait for transfers, and only for that part of them which
// was not beside their work: the end, where the data moves. The others wait for
// the computing ones.
void Timeline::joinLanes(unsigned ipu) {
  IpuCosts &compute = state_.costs[ipu];
  IpuCosts &transfer = state_.costs[transferLane(ipu)];
  IpuCosts &unseen = state_.unseen[transferLane(ipu)];
  const std::uint64_t latest = std::max(compute.clock(), transfer.clock());
  std::uint64_t left = latest - compute.clock();
  for (auto field : {&IpuCosts::hostExchange, &IpuCosts::exchange,
                     &IpuCosts::sync, &IpuCosts::control}) {
    const std::uint64_t part = std::min(left, unseen.*field);
    compute.*field += part;
    left -= part;
  }
  compute.wait += left;
  transfer.wait += latest - transfer.clock();
  unseen = {};
}

void Timeline::addSync(const Step &step, std::size_t lane) {
  const TargetData &target = steps_.target();
  IpuCosts &ipu = state_.costs[lane];
  LastStep &last = state_.last[lane];
  const LastStep now = step.isCopy()           ? LastStep::Copy
                       : step.isHostTransfer() ? LastStep::HostTransfer
                                               : LastStep::Other;
  const bool isBeyondIpu =
      step.isGlobal() || step.isHostTransfer() || step.isRemoteTransfer();
  if (now != LastStep::Other && now == last && !step.isGlobal()) {
    ipu.sharedSyncs += 1;
  } else if (isBeyondIpu) {
    ipu.sync += target.globalSyncCycles *
                (step.collective ? step.collective->steps : 1);
  } else {
    ipu.sync +=
        target.hasRelativeSyncDelay ? target.maxSyncDelay : target.minSyncDelay;
  }
  // Host transfers wait for no rearrangement: they stay consecutive.
  if (!step.isRearrangement) {
    last = now;
  }
}

void Timeline::runInLane(const Step &step, const IpuStepCost &cost) {
  const std::size_t lane = laneOf(step, cost.ipu);
  IpuCosts &ipu = state_.costs[lane];
  const std::uint64_t syncBefore = ipu.sync;
  addSync(step, lane);
  ipu.exchange += cost.exchange;
  ipu.compute += cost.compute;
  ipu.globalExchange += cost.globalExchange;
  ipu.hostExchange += cost.hostExchange;
  ipu.control += cost.control;
  ipu.tileExchange += cost.tileExchange;
  ipu.tileCompute += cost.tileCompute;
  ipu.threadCycles += cost.threadCycles;
  if (step.lane == Lane::Transfer) {
    IpuCosts &unseen = state_.unseen[lane];
    unseen.sync += ipu.sync - syncBefore;
    unseen.exchange += cost.exchange;
    unseen.hostExchange += cost.hostExchange;
    unseen.control += cost.control;
  }
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

void Timeline::runLoop(const ProgramNode &node) {
  const Groups groups = groupsOf(node);
  const auto run = [&](const ProgramPtr &part) {
    if (part) {
      runNode(*part);
    }
  };
  std::function<void()> iteration;
  if (const auto *repeat = std::get_if<internal::RepeatNode>(&node.op)) {
    iteration = [&, repeat] {
      addControl(groups, repeatIterationCycles);
      run(repeat->body);
    };
  } else {
    const auto &loop = std::get<internal::WhileNode>(node.op);
    run(loop.condition);
    runSteps(node);
    iteration = [&] {
      run(loop.body);
      run(loop.condition);
      runSteps(node);
    };
  }
  const Frequency iterations = iterationsOf(steps_, node);
  runIterations(iterations.times / iterations.of, groups, iteration);
  runShare({iterations.times % iterations.of, iterations.of}, iteration);
}

// Simulates iterations until the state repeats, up to a shift in time of each
// group of joined IPUs. A step only compares clocks inside a group, so what
// follows is the same period again and again: the rest is a product.
void Timeline::runIterations(std::uint64_t count, const Groups &groups,
                             const std::function<void()> &iteration) {
  std::vector<State> history; // at the start of each iteration
  while (history.size() < count) {
    history.push_back(state_);
    iteration();
    const std::uint64_t left = count - history.size();
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
      iteration();
    }
    return;
  }
}

void Timeline::addControl(const Groups &groups, std::uint64_t cycles) {
  for (std::size_t lane = 0; lane < groups.size(); ++lane) {
    if (groups[lane] != notUsed) {
      state_.costs[lane].control += cycles;
      state_.unseen[lane].control += cycles;
    }
  }
}

void Timeline::skipIterations(const State &before, std::uint64_t times) {
  const std::vector<IpuCosts> after = state_.costs;
  for (std::size_t ipu = 0; ipu < after.size(); ++ipu) {
    state_.costs[ipu].addDifference(before.costs[ipu], after[ipu], {times, 1});
    latestEnd_ = std::max(latestEnd_, state_.costs[ipu].clock());
  }
}

bool Timeline::isShifted(const State &before, const Groups &groups) const {
  if (before.last != state_.last) {
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
  Groups groups(lanes(), notUsed);
  collectGroups(node, groups);
  return groups;
}

void Timeline::collectGroups(const ProgramNode &node, Groups &groups) {
  const auto use = [&](std::size_t lane) {
    if (groups[lane] == notUsed) {
      groups[lane] = static_cast<unsigned>(lane);
    }
  };
  const auto join = [&](std::size_t lane, std::size_t other) {
    const unsigned from = groups[lane];
    const unsigned to = groups[other];
    std::replace(groups.begin(), groups.end(), from, to);
  };
  for (const Step &step : steps_.stepsOf(node)) {
    for (const IpuStepCost &cost : step.costs) {
      use(laneOf(step, cost.ipu));
      if (step.lane == Lane::Both) {
        use(transferLane(cost.ipu));
        join(transferLane(cost.ipu), cost.ipu);
      }
      if (step.isGlobal()) {
        join(cost.ipu, step.costs.front().ipu);
      }
    }
  }
  forEachChild(steps_.graph(), node,
               [&](const ProgramPtr &child) { collectGroups(*child, groups); });
}

} // namespace poplar::model
