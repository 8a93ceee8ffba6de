// The steps of a program as an indented tree.
#include "profile/StepText.hpp"

#include "profile/Text.hpp"
#include "program/VisitPrograms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string_view>
#include <type_traits>

namespace poplar::profile {

using internal::ProgramNode;
using internal::ProgramPtr;
using model::IpuStepCost;
using model::Step;
using model::StepKind;

namespace {

// One phase of a step over all IPUs that take part.
struct Phase {
  const char *title;
  std::uint64_t cycles = 0;  // slowest IPU
  std::uint64_t tileSum = 0; // cycles summed over tiles
  std::uint64_t threadSum = 0;
  std::uint64_t bytes = 0;
  std::uint64_t maxTileBytes = 0;
  unsigned activeTiles = 0;
};

// The name of a node that has parts, as libpva spells it; empty for leaves,
// which are shown by their steps.
std::string titleOf(const decltype(ProgramNode::op) &op) {
  return std::visit(
      [](const auto &node) -> std::string {
        using Node = std::decay_t<decltype(node)>;
        if constexpr (std::is_same_v<Node, internal::SequenceNode>) {
          return "Sequence";
        } else if constexpr (std::is_same_v<Node, internal::RepeatNode>) {
          return "Repeat";
        } else if constexpr (std::is_same_v<Node, internal::WhileNode>) {
          return node.continuesOn ? "RepeatWhileTrue" : "RepeatWhileFalse";
        } else if constexpr (std::is_same_v<Node, internal::IfNode>) {
          return "If";
        } else if constexpr (std::is_same_v<Node, internal::SwitchNode>) {
          return "Switch";
        } else if constexpr (std::is_same_v<Node, internal::CallNode>) {
          return "Call";
        } else if constexpr (std::is_same_v<Node, internal::BlockNode> ||
                             std::is_same_v<Node, internal::CycleCountNode>) {
          return "Block";
        } else {
          return {};
        }
      },
      op);
}

std::string textOf(const ProgramNode &node) {
  const auto *repeat = std::get_if<internal::RepeatNode>(&node.op);
  if (repeat == nullptr || repeat->count == internal::RepeatNode::forever) {
    return node.debugPath;
  }
  return fmt::format("{} times{}{}", thousands(repeat->count),
                     node.debugPath.empty() ? "" : ": ", node.debugPath);
}

class StepPrinter {
public:
  StepPrinter(std::ostream &stream, model::StepTable &steps,
              const std::vector<std::uint64_t> &overlaps)
      : stream_(stream), steps_(steps), overlaps_(overlaps) {}

  void print(const ProgramPtr &node, unsigned indent) {
    if (!node) {
      return;
    }
    const std::string title = titleOf(node->op);
    if (!title.empty()) {
      line(indent, title, textOf(*node));
      indent += 2;
    }
    for (const Step &step : steps_.stepsOf(*node)) {
      printStep(step, indent);
    }
    forEachChild(steps_.graph(), *node,
                 [&](const ProgramPtr &child) { print(child, indent); });
  }

private:
  void line(unsigned indent, std::string_view title, const std::string &name) {
    stream_ << fmt::format("{:{}}{}{}{}\n", "", indent, title,
                           name.empty() ? "" : ": ", name);
  }

  void value(unsigned indent, const char *label, const std::string &text) {
    stream_ << fmt::format("{:{}}{:<21}{}\n", "", indent,
                           std::string(label) + ":", text);
  }

  void printStep(const Step &step, unsigned indent) {
    const std::uint64_t overlap =
        step.id < overlaps_.size() ? overlaps_[step.id] : 0;
    switch (step.kind) {
    case StepKind::Execute:
    case StepKind::Exchange: {
      const Phase exchange = exchangeOf(step);
      printPhase(step, exchange, indent, overlap);
      printPhase(step, computeOf(step), indent,
                 overlap - std::min(overlap, exchange.cycles));
      break;
    }
    case StepKind::GlobalExchange:
      printPhase(step,
                 remoteOf(step, "GlobalExchange", &IpuStepCost::globalExchange),
                 indent, overlap);
      printPhase(step, computeOf(step), indent, 0); // of a collective
      break;
    case StepKind::HostToDevice:
    case StepKind::DeviceToHost:
    case StepKind::RemoteToDevice:
    case StepKind::DeviceToRemote:
      printTransfer(step, indent, overlap);
      break;
    case StepKind::Sync:
    case StepKind::GlobalSync:
      line(indent, "Sync", step.name);
      break;
    }
  }

  // Begin waits for the host, Mid moves the data.
  void printTransfer(const Step &step, unsigned indent, std::uint64_t overlap) {
    if (step.costs.empty()) {
      return; // of no elements
    }
    Phase data = remoteOf(step, "StreamCopyMid", &IpuStepCost::hostExchange);
    const Phase waiting{.title = "StreamCopyBegin",
                        .cycles = step.waitCycles,
                        .tileSum = step.waitCycles * step.costs.size() *
                                   steps_.target().tilesPerIPU,
                        .activeTiles = data.activeTiles};
    data.cycles -= waiting.cycles;
    data.tileSum -= waiting.tileSum;
    if (waiting.cycles == 0) {
      line(indent, waiting.title, step.name);
    }
    printPhase(step, waiting, indent, overlap);
    printPhase(step, data, indent, overlap - std::min(overlap, waiting.cycles));
    line(indent, "StreamCopyEnd", step.name);
  }

  static Phase exchangeOf(const Step &step) {
    Phase phase{.title = "DoExchange"};
    for (const IpuStepCost &cost : step.costs) {
      phase.cycles = std::max(phase.cycles, cost.exchange);
      phase.tileSum += cost.tileExchange;
      phase.bytes += cost.bytes;
      phase.maxTileBytes = std::max(phase.maxTileBytes, cost.maxTileBytes);
      phase.activeTiles += cost.exchangeTiles;
    }
    return phase;
  }

  static Phase computeOf(const Step &step) {
    Phase phase{.title = "OnTileExecute"};
    for (const IpuStepCost &cost : step.costs) {
      phase.cycles = std::max(phase.cycles, cost.compute);
      phase.tileSum += cost.tileCompute;
      phase.threadSum += cost.threadCycles;
      phase.activeTiles += cost.computeTiles;
    }
    return phase;
  }

  Phase remoteOf(const Step &step, const char *title,
                 std::uint64_t IpuStepCost::*duration) const {
    Phase phase{.title = title};
    for (const IpuStepCost &cost : step.costs) {
      phase.cycles = std::max(phase.cycles, cost.*duration);
      phase.tileSum += cost.*duration * steps_.target().tilesPerIPU;
      phase.bytes += cost.bytes;
      phase.maxTileBytes = std::max(phase.maxTileBytes, cost.maxTileBytes);
      phase.activeTiles += cost.exchangeTiles;
    }
    return phase;
  }

  void printPhase(const Step &step, const Phase &phase, unsigned indent,
                  std::uint64_t overlap) {
    if (phase.cycles == 0) {
      return;
    }
    line(indent, phase.title, step.name);
    const unsigned inner = indent + 4;
    const auto cycles = static_cast<double>(phase.cycles);
    const auto sum = static_cast<double>(phase.tileSum);
    value(inner, "Cycles",
          fmt::format("{} ({} overlapped with previous)",
                      thousands(phase.cycles),
                      thousands(std::min(overlap, phase.cycles))));
    value(inner, "Active Tiles",
          fmt::format("{} / {}", thousands(phase.activeTiles),
                      thousands(steps_.tiles())));
    value(inner, "Tile Balance", percent(sum, cycles * steps_.tiles()));
    value(inner, "Active Tile Balance",
          percent(std::min(sum, cycles * phase.activeTiles),
                  cycles * phase.activeTiles));
    if (phase.threadSum != 0) {
      value(inner, "Thread Balance",
            percent(static_cast<double>(phase.threadSum), sum));
    }
    if (phase.bytes != 0) {
      value(inner, "Total Data", thousands(phase.bytes) + " B");
      value(inner, "Data Balance",
            percent(static_cast<double>(phase.bytes),
                    static_cast<double>(phase.maxTileBytes) * steps_.tiles()));
    }
  }

  std::ostream &stream_;
  model::StepTable &steps_;
  const std::vector<std::uint64_t> &overlaps_;
};

} // namespace

void printSteps(std::ostream &stream, const ProgramPtr &program,
                model::StepTable &steps,
                const std::vector<std::uint64_t> &overlaps) {
  StepPrinter(stream, steps, overlaps).print(program, 2);
}

} // namespace poplar::profile
