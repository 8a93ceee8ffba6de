// INTERFACE: the kernel entry. One fast implementation of a kind: what it takes
// and how it plans a call. A plan is made once, at load; running it allocates
// nothing, locks nothing and touches only the bytes it declared.
#pragma once

#include <kernels/Signature.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace kernels {

// Bytes [begin, end) of one operand, counted from the operand's first element
// (its lowest-address one when strides are negative).
struct Access {
  std::uint32_t operand = 0;
  bool isWrite = false;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// A shard: the unit that a core runs. Shards are cut from shapes alone, so the
// same shards, and the same bits, exist at any thread count.
struct Task {
  // Tasks of one stage are independent of each other; every task of a stage
  // runs after all tasks of the plan's earlier stages.
  std::uint32_t stage = 0;
  // Expected nanoseconds on one core: guides placement, never values.
  double cost = 0;
  std::vector<Access> accesses;
};

// What a task has besides operands, aligned to 64 bytes.
struct Memory {
  // Of the call, shared by its tasks: what one of them writes there, those of
  // later stages find. Undefined before the first.
  std::byte *scratch = nullptr;
  // Of the running task alone, undefined at its start. The next task finds the
  // same bytes in the core's cache.
  std::byte *workspace = nullptr;
};

class Plan {
public:
  virtual ~Plan() = default;

  const std::vector<Task> &tasks() const { return tasks_; }
  std::size_t scratchBytes() const { return scratchBytes_; }
  std::size_t workspaceBytes() const { return workspaceBytes_; } // of any task

  // Runs one task. `operands[i]` is the address of operand i's element 0; data
  // is aligned to 64 bytes when the operand is a whole value.
  virtual void run(std::uint32_t task, std::byte *const *operands,
                   Memory memory) const = 0;

protected:
  std::vector<Task> tasks_;
  std::size_t scratchBytes_ = 0;
  std::size_t workspaceBytes_ = 0;
};

struct KernelEntry {
  const char *name;

  // The layout wanted of each operand (inputs, then outputs), or nothing when
  // this kernel does not take the call. Asked with every operand plain; `found`
  // says how inputs lie so far.
  std::optional<std::vector<Layout>> (*layouts)(const Signature &signature);

  // Plans a call whose operands have the layouts asked for; null when the
  // strides or shapes are not taken after all.
  std::unique_ptr<Plan> (*plan)(const Signature &signature);
};

// How many equal shards `work` nanoseconds of splittable work over `items`
// independent items is cut into. A function of the shape alone.
std::int64_t shardCount(std::int64_t items, double work);

// Item range [begin, end) of shard `index` of `count`.
struct ShardRange {
  std::int64_t begin;
  std::int64_t end;
};
constexpr ShardRange shardRange(std::int64_t items, std::int64_t count,
                                std::int64_t index) {
  return {items * index / count, items * (index + 1) / count};
}

} // namespace kernels
