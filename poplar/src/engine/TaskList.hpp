// A value program as tasks with the bytes they touch: what is left of it when
// every value has an address.
#pragma once

#include "compiler/AssignStorage.hpp"
#include "compiler/ValueIr.hpp"
#include "engine/HostStreams.hpp"
#include "engine/VariableStore.hpp"

#include <kernels/KernelEntry.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace poplar::engine {

struct ByteAccess {
  const std::byte *begin = nullptr;
  const std::byte *end = nullptr;
  bool isWrite = false;
  bool isScratch = false; // of the call; each task uses some of it
};

struct TaskItem {
  const kernels::Plan *plan = nullptr;
  std::uint32_t task = 0; // of the plan
  std::byte *const *operands = nullptr;
  std::byte *scratch = nullptr;

  std::uint32_t call = 0;  // index into TaskProgram::calls
  std::uint32_t stage = 0; // of the call
  double cost = 0;         // nanoseconds
  bool isStream = false;   // runs on worker 0, in program order
  std::vector<ByteAccess> accesses;
};

// Tasks in program order, or blocks one after another, `count` times.
struct TaskBlock {
  std::uint64_t count = 1;
  std::vector<TaskItem> tasks;
  std::vector<TaskBlock> children;
};

// What the tasks of one node have in common, for profiles.
struct Call {
  std::string kernel;
  std::string name;
  std::size_t tasks = 0;
  double cost = 0; // of all its tasks, as the plan expects; nanoseconds
};

struct TaskProgram {
  TaskBlock body;
  std::vector<Call> calls;
  // Owned by the program, pointed to by tasks.
  std::deque<std::vector<std::byte *>> operandTables;
  std::vector<std::shared_ptr<const kernels::Plan>> plans;
};

TaskProgram makeTasks(const compiler::ValueProgram &program,
                      const compiler::StorageAssignment &storage,
                      const VariableStore &variables, std::byte *arena,
                      HostStreams &streams);

} // namespace poplar::engine
