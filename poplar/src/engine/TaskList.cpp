#include "engine/TaskList.hpp"

#include "compiler/Windows.hpp"
#include "engine/HostPlans.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace poplar::engine {
namespace {

using compiler::Node;
using compiler::NodeOp;
using compiler::Window;
using Kind = compiler::ControlTree::Kind;

class TaskMaker {
public:
  TaskMaker(TaskProgram &result, const compiler::ValueProgram &program,
            const compiler::StorageAssignment &storage,
            const TaskContext &context)
      : result_(result), program_(program), storage_(storage),
        context_(context) {}

  // Stretches without loops become blocks of tasks. A region that is one
  // stretch is one block itself.
  void add(const compiler::Region &region, TaskBlock &block) {
    bool hasLoop = false;
    for (const Node &node : region.nodes) {
      hasLoop = hasLoop || node.op == NodeOp::Loop;
    }
    block.kind = hasLoop ? Kind::Sequence : Kind::Stretch;
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
        stretch->kind = Kind::Stretch;
      }
      add(node, *stretch);
    }
  }

private:
  void add(const Node &node, TaskBlock &block) {
    std::vector<std::byte *> &operands = result_.operandTables.emplace_back();
    std::vector<std::byte *> lowest;
    for (const Window &input : node.inputs) {
      addOperand(input, operands, lowest);
    }
    for (const compiler::Definition &output : node.outputs) {
      addOperand(output.window, operands, lowest);
    }
    const std::shared_ptr<const kernels::Plan> plan = planOf(node);
    result_.plans.push_back(plan);
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
      item.isStreamPart = isStream(node) && task.stage > 0;
      item.isStream = isOrdered(node) && !item.isStreamPart;
      for (const kernels::Access &access : task.accesses) {
        std::byte *base = lowest[access.operand];
        item.accesses.push_back(
            {base + access.begin, base + access.end, access.isWrite, false});
      }
      if (scratch != storage_.scratch.end()) {
        item.scratch = context_.arena + scratch->second;
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
    if (context_.traps.isOn() &&
        (node.op == NodeOp::Kernel || node.op == NodeOp::Vertices)) {
      return makeTrappingPlan(untrappedPlanOf(node), context_.traps, node.name);
    }
    return untrappedPlanOf(node);
  }

  std::shared_ptr<const kernels::Plan> untrappedPlanOf(const Node &node) const {
    switch (node.op) {
    case NodeOp::StreamIn:
    case NodeOp::StreamOut:
      return makeStreamPlan(context_.host, node);
    case NodeOp::Host:
      return makeHostPlan(context_.host, node, program_);
    case NodeOp::Vertices:
      return makeVertexPlan(context_.graph, context_.host, node, program_,
                            context_.vertices.of(node.computeSet));
    case NodeOp::Kernel:
    case NodeOp::Copy:
    case NodeOp::Loop:
      break;
    }
    return node.plan;
  }

  static bool isStream(const Node &node) {
    return node.op == NodeOp::StreamIn || node.op == NodeOp::StreamOut;
  }

  // Whatever the host can see happens in the order of the program.
  bool isOrdered(const Node &node) const {
    return isStream(node) || node.op == NodeOp::Host ||
           (node.op == NodeOp::Vertices &&
            context_.vertices.of(node.computeSet).isPrinting());
  }

  static std::string kernelNameOf(const Node &node) {
    switch (node.op) {
    case NodeOp::StreamIn:
      return "streamIn";
    case NodeOp::StreamOut:
      return "streamOut";
    case NodeOp::Host:
      return "host";
    case NodeOp::Vertices:
      return "vertices";
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
                          ? context_.variables.data(location.variable)
                          : context_.arena + location.offset;
    const auto size =
        static_cast<std::int64_t>(support::sizeOf(program_[window.value].type));
    operands.push_back(base + window.offset * size);
    lowest.push_back(base + compiler::elementRange(window).begin * size);
  }

  TaskProgram &result_;
  const compiler::ValueProgram &program_;
  const compiler::StorageAssignment &storage_;
  const TaskContext &context_;
};

} // namespace

std::int64_t Decision::read() const {
  if (type == support::DataType::Bool) {
    return *address == std::byte{0} ? 0 : 1;
  }
  std::int32_t value = 0;
  std::memcpy(&value, address, sizeof(value));
  return value;
}

void addTasks(TaskProgram &result, TaskBlock &block,
              const compiler::ValueProgram &program,
              const compiler::StorageAssignment &storage,
              const TaskContext &context) {
  TaskMaker(result, program, storage, context).add(program.body, block);
}

} // namespace poplar::engine
