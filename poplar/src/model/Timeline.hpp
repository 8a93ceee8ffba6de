// Runs a program on one clock per IPU, and one for its tiles that only move
// data. IPUs go their own way until they exchange with each other, which is
// what makes pipeline stages overlap; so do the lanes of an IPU, which is what
// makes transfers overlap with compute.
#pragma once

#include "model/ControlFlow.hpp"
#include "model/StepTable.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace poplar::model {

// The cycles of one IPU. The phases of its clock add up to the total; the sums
// run over the IPU's tiles.
struct IpuCosts {
  std::uint64_t compute = 0;
  std::uint64_t exchange = 0;
  std::uint64_t globalExchange = 0;
  std::uint64_t hostExchange = 0; // less what was beside compute
  std::uint64_t sync = 0;
  std::uint64_t control = 0;
  std::uint64_t wait = 0;         // for other IPUs
  std::uint64_t tileCompute = 0;  // sum
  std::uint64_t threadCycles = 0; // sum
  std::uint64_t tileExchange = 0; // sum
  std::uint64_t sharedSyncs = 0;  // steps that needed no sync of their own

  std::uint64_t busy() const {
    return compute + exchange + globalExchange + hostExchange;
  }
  std::uint64_t clock() const { return busy() + sync + control + wait; }

  // *this += factor * (to - from), to the nearest cycle
  void addDifference(const IpuCosts &from, const IpuCosts &to,
                     Frequency factor);
};

struct ExecutionCost {
  std::uint64_t total = 0; // cycles of the critical path
  std::vector<IpuCosts> ipus;

  void add(const ExecutionCost &other, std::uint64_t times);
};

class Timeline {
public:
  explicit Timeline(StepTable &steps);

  // The cost of one run of a program that starts and ends with all IPUs
  // together. A null program costs nothing.
  ExecutionCost run(const internal::ProgramPtr &program);

  // Cycles of the step that passed while an earlier step still ran elsewhere,
  // in the last iteration simulated. By step id.
  const std::vector<std::uint64_t> &overlaps() const { return overlaps_; }

private:
  // What an IPU did last: a copy after a copy needs no sync, and neither does a
  // host transfer after another.
  enum class LastStep : std::uint8_t { Other, Copy, HostTransfer };
  // By lane: first the tiles of each IPU that compute, which are all of them
  // where there are no others; then the others of each IPU.
  struct State {
    std::vector<IpuCosts> costs;
    std::vector<LastStep> last;
    // By lane: of tiles that only move data, what they did since the others of
    // their IPU last waited for them.
    std::vector<IpuCosts> unseen;
  };
  // For each lane a group of lanes that a program joins, or `notUsed`.
  using Groups = std::vector<unsigned>;

  void runNode(const internal::ProgramNode &node);
  void runSteps(const internal::ProgramNode &node);
  void runShare(Frequency share, const std::function<void()> &run);
  void runStep(const Step &step);
  void runInLane(const Step &step, const IpuStepCost &cost);
  void addSync(const Step &step, std::size_t lane);
  void runLoop(const internal::ProgramNode &node);
  void runIterations(std::uint64_t count, const Groups &groups,
                     const std::function<void()> &iteration);
  void addControl(const Groups &groups, std::uint64_t cycles);
  void skipIterations(const State &before, std::uint64_t times);
  void joinIpus(const Step &step);
  void joinLanes(unsigned ipu);

  std::size_t lanes() const;
  std::size_t transferLane(unsigned ipu) const { return steps_.ipus() + ipu; }
  std::size_t laneOf(const Step &step, unsigned ipu) const {
    return step.lane == Lane::Transfer ? transferLane(ipu) : ipu;
  }
  Groups groupsOf(const internal::ProgramNode &node);
  void collectGroups(const internal::ProgramNode &node, Groups &groups);
  bool isShifted(const State &before, const Groups &groups) const;

  StepTable &steps_;
  State state_;
  std::uint64_t latestEnd_ = 0;
  std::vector<std::uint64_t> overlaps_;
};

} // namespace poplar::model
