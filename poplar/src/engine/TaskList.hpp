// Programs as tasks with the bytes they touch: what is left of value programs
// when every value has an address.
#pragma once

#include "compiler/AssignStorage.hpp"
#include "compiler/ControlTree.hpp"
#include "compiler/ValueIr.hpp"
#include "engine/FloatTraps.hpp"
#include "engine/HostServices.hpp"
#include "engine/VariableStore.hpp"
#include "engine/VertexSet.hpp"

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

  std::uint32_t call = 0;    // index into TaskProgram::calls
  std::uint32_t stage = 0;   // of the call
  double cost = 0;           // nanoseconds
  bool isStream = false;     // runs on worker 0, in program order
  bool isStreamPart = false; // done before the next one that isStream
  std::vector<ByteAccess> accesses;
};

// Where the program's control reads a value that decides.
struct Decision {
  const std::byte *address = nullptr;
  support::DataType type = support::DataType::Bool;

  std::int64_t read() const;
};

// Tasks in program order, or blocks one after another, `count` times; or
// control as in compiler/ControlTree.hpp.
struct TaskBlock {
  compiler::ControlTree::Kind kind = compiler::ControlTree::Kind::Sequence;
  std::uint64_t count = 1;
  std::vector<TaskItem> tasks;
  std::vector<TaskBlock> children;
  Decision decision;
  bool continuesOn = true;
  std::vector<std::int32_t> keys;
  std::size_t function = 0; // index into TaskProgram::functions
  const internal::ProgramNode *node = nullptr; // as in ControlTree
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
  std::vector<TaskBlock> functions;
  std::vector<Call> calls;
  // Owned by the program, pointed to by tasks.
  std::deque<std::vector<std::byte *>> operandTables;
  std::vector<std::shared_ptr<const kernels::Plan>> plans;
};

// What tasks are made from, besides the value program.
struct TaskContext {
  const internal::GraphData &graph;
  const VariableStore &variables;
  std::byte *arena = nullptr;
  HostServices &host;
  FloatTraps traps;
  VertexSets &vertices;
};

// Adds the tasks of a value program to `block`, which is empty.
void addTasks(TaskProgram &result, TaskBlock &block,
              const compiler::ValueProgram &program,
              const compiler::StorageAssignment &storage,
              const TaskContext &context);

} // namespace poplar::engine
