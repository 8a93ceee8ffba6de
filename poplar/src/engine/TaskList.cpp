#include "engine/TaskList.hpp"

#include "compiler/Windows.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace poplar::engine {
namespace {

using compiler::Node;
using compiler::NodeOp;
using compiler::Window;

// A transfer between the host and one operand.
class StreamPlan final : public kernels::Plan {
public:
  StreamPlan(HostStreams &streams, internal::StreamId stream, bool isReceive)
      : streams_(streams), stream_(stream), isReceive_(isReceive) {
    constexpr double bytesPerNanosecond = 10;
    const std::size_t bytes = streams.transferBytes(stream);
    kernels::Task task;
    task.cost = 100 + static_cast<double>(bytes) / bytesPerNanosecond;
    task.accesses.push_back(
        {0, isReceive, 0, static_cast<std::int64_t>(bytes)});
    tasks_.push_back(std::move(task));
  }

  void run(std::uint32_t, std::byte *const *operands,
           std::byte *) const override {
    if (isReceive_) {
      streams_.receive(stream_, operands[0]);
    } else {
      streams_.send(stream_, operands[0]);
    }
  }

private:
  HostStreams &streams_;
  internal::StreamId stream_;
  bool isReceive_;
};

class TaskMaker {
public:
  TaskMaker(const compiler::ValueProgram &program,
            const compiler::StorageAssignment &storage,
            const VariableStore &variables, std::byte *arena,
            HostStreams &streams)
      : program_(program), storage_(storage), variables_(variables),
        arena_(arena), streams_(streams) {}

  TaskProgram run() {
    add(program_.body, result_.body);
    return std::move(result_);
  }

private:
  // Stretches without loops become blocks of tasks. A region that is one
  // stretch is one block itself.
  void add(const compiler::Region &region, TaskBlock &block) {
    bool hasLoop = false;
    for (const Node &node : region.nodes) {
      hasLoop = hasLoop || node.op == NodeOp::Loop;
    }
    TaskBlock *stretch = hasLoop ? nullptr : &block;
    for (const Node &node : region.nodes) {
      if (node.op == NodeOp::Loop) {
        TaskBlock &loop = block.children.emplace_back();
        loop.count = node.loop->count;
        add(node.loop->body, loop);
        stretch = nullptr;
        continue;
      }
      if (stretch == nullptr) {
        stretch = &block.children.emplace_back();
      }
      add(node, *stretch);
    }
  }

  void add(const Node &node, TaskBlock &block) {
    const std::shared_ptr<const kernels::Plan> &plan =
        result_.plans.emplace_back(planOf(node));
    std::vector<std::byte *> &operands = result_.operandTables.emplace_back();
    std::vector<std::byte *> lowest;
    for (const Window &input : node.inputs) {
      addOperand(input, operands, lowest);
    }
    for (const compiler::Definition &output : node.outputs) {
      addOperand(output.window, operands, lowest);
    }
    const auto scratch = storage_.scratch.find(&node);
    const auto call = static_cast<std::uint32_t>(result_.calls.size());
    result_.calls.push_back(
        {kernelNameOf(node), node.name, plan->tasks().size(), 0});
    for (std::uint32_t i : byStage(*plan)) {
      const kernels::Task &task = plan->tasks()[i];
      TaskItem item;
      item.plan = plan.get();
      item.task = i;
      item.operands = operands.data();
      item.call = call;
      item.stage = task.stage;
      item.cost = task.cost;
      result_.calls.back().cost += task.cost;
      item.isStream =
          node.op == NodeOp::StreamIn || node.op == NodeOp::StreamOut;
      for (const kernels::Access &access : task.accesses) {
        std::byte *base = lowest[access.operand];
        item.accesses.push_back(
            {base + access.begin, base + access.end, access.isWrite, false});
      }
      if (scratch != storage_.scratch.end()) {
        item.scratch = arena_ + scratch->second;
        item.accesses.push_back(
            {item.scratch, item.scratch + plan->scratchBytes(), true, true});
      }
      block.tasks.push_back(std::move(item));
    }
  }

  static std::vector<std::uint32_t> byStage(const kernels::Plan &plan) {
    std::vector<std::uint32_t> order(plan.tasks().size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) {
                       return plan.tasks()[a].stage < plan.tasks()[b].stage;
                     });
    return order;
  }

  std::shared_ptr<const kernels::Plan> planOf(const Node &node) const {
    if (node.plan != nullptr) {
      return node.plan;
    }
    return std::make_shared<StreamPlan>(streams_, node.stream,
                                        node.op == NodeOp::StreamIn);
  }

  static std::string kernelNameOf(const Node &node) {
    switch (node.op) {
    case NodeOp::StreamIn:
      return "streamIn";
    case NodeOp::StreamOut:
      return "streamOut";
    case NodeOp::Kernel:
      return std::string(node.kind->name) + ":" + node.kernelName;
    case NodeOp::Copy:
    case NodeOp::Loop:
      break;
    }
    return node.kernelName;
  }

  void addOperand(const Window &window, std::vector<std::byte *> &operands,
                  std::vector<std::byte *> &lowest) const {
    const auto &location = storage_.values[window.value.index()];
    std::byte *base = location.variable.isValid()
                          ? variables_.data(location.variable)
                          : arena_ + location.offset;
    const auto size =
        static_cast<std::int64_t>(support::sizeOf(program_[window.value].type));
    operands.push_back(base + window.offset * size);
    lowest.push_back(base + compiler::elementRange(window).begin * size);
  }

  const compiler::ValueProgram &program_;
  const compiler::StorageAssignment &storage_;
  const VariableStore &variables_;
  std::byte *arena_;
  HostStreams &streams_;
  TaskProgram result_;
};

} // namespace

TaskProgram makeTasks(const compiler::ValueProgram &program,
                      const compiler::StorageAssignment &storage,
                      const VariableStore &variables, std::byte *arena,
                      HostStreams &streams) {
  return TaskMaker(program, storage, variables, arena, streams).run();
}

} // namespace poplar::engine
