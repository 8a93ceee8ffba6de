#include "engine/HostPlans.hpp"

#include "codelets/Codelets.hpp"
#include "engine/HostActions.hpp"

#include <support/Error.hpp>

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

namespace poplar::engine {
namespace {

using compiler::Node;
using compiler::NodeOp;
using compiler::ValueProgram;
using compiler::Window;

std::int64_t bytesOf(const Window &window, const ValueProgram &program) {
  return support::elementCount(window.shape) *
         static_cast<std::int64_t>(support::sizeOf(program[window.value].type));
}

// One transfer. The first task asks for the host's data; where that lies in a
// buffer, the others copy a part each, and else there is nothing left to do.
class StreamPlan final : public kernels::Plan {
public:
  StreamPlan(HostStreams &streams, const Node &node)
      : streams_(streams), stream_(node.stream), replica_(node.replica),
        isReceive_(node.op == NodeOp::StreamIn) {
    constexpr double bytesPerNanosecond = 10;
    constexpr std::int64_t line = 64;
    const auto bytes =
        static_cast<std::int64_t>(streams.transferBytes(stream_));
    const double work = static_cast<double>(bytes) / bytesPerNanosecond;
    const std::int64_t parts = kernels::shardCount(bytes / line, work);
    isWhole_ = parts == 1;
    tasks_.push_back({0, 100 + (isWhole_ ? work : 0), {}});
    tasks_.back().accesses.push_back({0, isReceive_, 0, bytes});
    for (std::int64_t i = 0; i < parts && !isWhole_; ++i) {
      const auto [begin, end] = kernels::shardRange(bytes, parts, i);
      tasks_.push_back({1, work / static_cast<double>(parts), {}});
      tasks_.back().accesses.push_back({0, isReceive_, begin, end});
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           kernels::Memory) const override {
    if (task == 0) {
      start(operands[0]);
    } else if (place_ != nullptr) {
      const kernels::Access &part = tasks_[task].accesses[0];
      copy(operands[0], part.begin, part.end);
    }
  }

private:
  void start(std::byte *data) const {
    place_ = isReceive_ ? streams_.beginReceive(stream_, replica_, data)
                        : streams_.beginSend(stream_, replica_, data);
    if (place_ != nullptr && isWhole_) {
      copy(data, 0, tasks_[0].accesses[0].end);
    }
  }

  void copy(std::byte *data, std::int64_t begin, std::int64_t end) const {
    std::memcpy((isReceive_ ? data : place_) + begin,
                (isReceive_ ? place_ : data) + begin,
                static_cast<std::size_t>(end - begin));
  }

  HostStreams &streams_;
  internal::StreamId stream_;
  unsigned replica_;
  bool isReceive_;
  bool isWhole_; // in one task
  // Of this transfer in a connected buffer, if it has one.
  mutable std::byte *place_ = nullptr;
};

class HostPlan final : public kernels::Plan {
public:
  HostPlan(HostServices &host, const Node &node, const ValueProgram &program)
      : host_(host), program_(node.program) {
    kernels::Task task;
    task.cost = 1000;
    for (const Window &input : node.inputs) {
      task.accesses.push_back({static_cast<std::uint32_t>(task.accesses.size()),
                               false, 0, bytesOf(input, program)});
    }
    for (const compiler::Definition &output : node.outputs) {
      task.accesses.push_back({static_cast<std::uint32_t>(task.accesses.size()),
                               true, 0, bytesOf(output.window, program)});
    }
    tasks_.push_back(std::move(task));
  }

  void run(std::uint32_t, std::byte *const *operands,
           kernels::Memory) const override {
    runHostAction(host_, *program_, operands);
  }

private:
  HostServices &host_;
  std::shared_ptr<const internal::ProgramNode> program_;
};

// Which operands of a node show a variable: the one it reads, and the one it
// writes, which is in the same place.
struct OperandsOf {
  std::uint32_t read = ~0U;
  std::uint32_t written = ~0U;
};
using VariableOperands = std::unordered_map<internal::VariableId, OperandsOf>;

VariableOperands findOperands(const Node &node, const ValueProgram &program) {
  VariableOperands result;
  for (std::uint32_t i = 0; i < node.inputs.size(); ++i) {
    result[program[node.inputs[i].value].variable].read = i;
  }
  const auto inputs = static_cast<std::uint32_t>(node.inputs.size());
  for (std::uint32_t o = 0; o < node.outputs.size(); ++o) {
    const internal::VariableId variable =
        program[node.outputs[o].window.value].variable;
    if (variable.isValid()) {
      result[variable].written = inputs + o;
    }
  }
  return result;
}

class VertexPlan final : public kernels::Plan {
public:
  VertexPlan(const internal::GraphData &graph, HostServices &host,
             const Node &node, const VariableOperands &places,
             const VertexSet &vertices)
      : host_(host), hasExitStatus_(node.hasExitStatus),
        status_(static_cast<std::uint32_t>(node.inputs.size() +
                                           node.outputs.size()) -
                1),
        vertices_(vertices), isSuccess_(vertices_.shards()) {
    for (std::uint32_t s = 0; s < vertices_.shards(); ++s) {
      addTask(graph, s, places);
    }
    if (hasExitStatus_) {
      kernels::Task task;
      task.stage = 1;
      task.cost = 10;
      task.accesses.push_back({status_, true, 0, 1});
      tasks_.push_back(std::move(task));
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           kernels::Memory) const override {
    if (task < vertices_.shards()) {
      const codelets::PrintScope printing(*host_.printStream);
      isSuccess_[task] = vertices_.run(task);
    } else {
      *operands[status_] = static_cast<std::byte>(
          std::all_of(isSuccess_.begin(), isSuccess_.end(),
                      [](char success) { return success != 0; }));
    }
  }

private:
  void addTask(const internal::GraphData &graph, std::uint32_t shard,
               const VariableOperands &places) {
    kernels::Task task;
    task.cost = vertices_.cost(shard);
    for (const VertexSet::Touch &touch : vertices_.touches(shard)) {
      const OperandsOf &place = places.at(touch.variable);
      const auto size = static_cast<std::int64_t>(
          support::sizeOf(graph[touch.variable].type));
      task.accesses.push_back({touch.isWritten ? place.written : place.read,
                               touch.isWritten, touch.begin * size,
                               touch.end * size});
    }
    tasks_.push_back(std::move(task));
  }

  HostServices &host_;
  bool hasExitStatus_;
  std::uint32_t status_;
  const VertexSet &vertices_;
  mutable std::vector<char> isSuccess_; // by shard
};

class TrappingPlan final : public kernels::Plan {
public:
  TrappingPlan(std::shared_ptr<const kernels::Plan> plan, FloatTraps traps,
               std::string name)
      : plan_(std::move(plan)), traps_(traps), name_(std::move(name)) {
    tasks_ = plan_->tasks();
    scratchBytes_ = plan_->scratchBytes();
    workspaceBytes_ = plan_->workspaceBytes();
  }

  void run(std::uint32_t task, std::byte *const *operands,
           kernels::Memory memory) const override {
    traps_.begin();
    plan_->run(task, operands, memory);
    traps_.end(name_);
  }

private:
  std::shared_ptr<const kernels::Plan> plan_;
  FloatTraps traps_;
  std::string name_;
};

} // namespace

std::unique_ptr<kernels::Plan> makeStreamPlan(HostServices &host,
                                              const Node &node) {
  return std::make_unique<StreamPlan>(host.streams, node);
}

std::unique_ptr<kernels::Plan> makeHostPlan(HostServices &host,
                                            const Node &node,
                                            const ValueProgram &program) {
  return std::make_unique<HostPlan>(host, node, program);
}

std::unique_ptr<kernels::Plan> makeVertexPlan(const internal::GraphData &graph,
                                              HostServices &host,
                                              const Node &node,
                                              const ValueProgram &program,
                                              const VertexSet &vertices) {
  return std::make_unique<VertexPlan>(
      graph, host, node, findOperands(node, program), std::move(vertices));
}

std::shared_ptr<const kernels::Plan>
makeTrappingPlan(std::shared_ptr<const kernels::Plan> plan,
                 const FloatTraps &traps, const std::string &name) {
  return std::make_shared<TrappingPlan>(std::move(plan), traps, name);
}

} // namespace poplar::engine
