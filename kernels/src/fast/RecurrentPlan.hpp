// What the plans of recurrent layers share: tasks over shared scratch memory,
// shards, and the steps of each sample.
#pragma once

#include "PlanHelpers.hpp"

#include "kinds/RecurrentShape.hpp"
#include "loops/Loops.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace kernels {

class RecurrentPlan : public Plan {
protected:
  // Reads and writes of `task` are declared whole: a step's rows of a range of
  // samples are strewn over the operands.
  void addTask(const Signature &signature, std::uint32_t stage, double cost,
               const std::vector<std::size_t> &operands) {
    Task task{stage, cost, {}};
    for (const auto operand : operands) {
      if (operand != OperandOrder::absent) {
        task.accesses.push_back(wholeAccess(signature, operand));
      }
    }
    tasks_.push_back(std::move(task));
  }

  // A part of the scratch memory, by its offset in bytes.
  std::size_t reserve(std::int64_t floats) {
    const auto at = scratchBytes_;
    scratchBytes_ +=
        lineAligned(static_cast<std::size_t>(floats) * sizeof(float));
    return at;
  }
  static float *floats(std::byte *scratch, std::size_t offset) {
    return reinterpret_cast<float *>(scratch + offset);
  }
};

// A layer as its plan sees it.
struct GateShape : RecurrentShape {
  Attributes::Ints positions;
  int activation, recurrent; // as GateFunction

  GateShape(std::string_view kind, std::int64_t gates,
            const RecurrentShape &shape, const Attributes &attributes)
      : RecurrentShape(shape),
        positions(gatePositions(kind, attributes, gates)),
        activation(
            static_cast<int>(gateFunction(kind, attributes, "activation"))),
        recurrent(static_cast<int>(
            gateFunction(kind, attributes, "recurrentActivation"))) {}

  // Among the gates' weights.
  std::int64_t position(std::int64_t gate) const {
    return positions[static_cast<std::size_t>(gate)];
  }
  // Where a gate's units start among those of all gates.
  std::int64_t unit(std::int64_t gate) const { return position(gate) * out; }
};

// Of calls forward and back.
inline RecurrentShape forwardShape(const Signature &signature) {
  const auto &x = signature.inputs[0].shape;
  return {x[0], x[1], x[2], signature.inputs[1].shape[1]};
}
inline RecurrentShape backwardShape(const Signature &signature) {
  const auto &saved = signature.inputs[0].shape;
  return {saved[0], saved[1], signature.inputs[1].shape[1], saved[3]};
}

// 100 GFLOP/s.
inline double productWork(std::int64_t m, std::int64_t n, std::int64_t k) {
  return 0.02 * static_cast<double>(m) * static_cast<double>(n) *
         static_cast<double>(k);
}

// Ranges of samples, sixteen or more each where there are enough.
inline std::vector<ShardRange> sampleShards(std::int64_t batch, double work) {
  constexpr std::int64_t unit = 16;
  const auto items = (batch + unit - 1) / unit;
  const auto count = shardCount(items, work);
  std::vector<ShardRange> shards;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto range = shardRange(items, count, i);
    shards.push_back({range.begin * unit, std::min(range.end * unit, batch)});
  }
  return shards;
}

inline std::vector<ShardRange> rowShards(std::int64_t rows, double work) {
  const auto count = shardCount(rows, work);
  std::vector<ShardRange> shards;
  for (std::int64_t i = 0; i < count; ++i) {
    shards.push_back(shardRange(rows, count, i));
  }
  return shards;
}

// Adds rows.
inline auto adder() {
  return selectedLoops()
      .reduce.columns[static_cast<std::size_t>(ReduceOp::Add)];
}

// The steps of each sample.
struct StepCounts {
  const std::int32_t *data = nullptr; // null: all of them
  std::int64_t count = 1;
  std::int64_t most = 0;

  std::int64_t of(std::int64_t sample) const {
    return data == nullptr
               ? most
               : std::min<std::int64_t>(data[count == 1 ? 0 : sample], most);
  }
};

inline StepCounts stepCounts(const Signature &signature, std::size_t operand,
                             std::int64_t most) {
  return {nullptr,
          operand == OperandOrder::absent
              ? 1
              : support::elementCount(signature.operand(operand).shape),
          most};
}

// Whether a call is for these plans: FLOAT but for the steps, row-major or in
// the layout that they asked for, not empty.
inline bool isTakenRecurrent(const Signature &signature, std::size_t steps) {
  for (std::size_t i = 0; i < signature.operandCount(); ++i) {
    const auto &operand = signature.operand(i);
    if ((operand.layout == Layout::Plain && !operand.isRowMajor()) ||
        (operand.type != DataType::Float && i != steps) ||
        support::elementCount(operand.shape) == 0) {
      return false;
    }
  }
  return true;
}

} // namespace kernels
