#include "compiler/Print.hpp"

#include "compiler/Windows.hpp"

#include <fmt/format.h>

namespace poplar::compiler {
namespace {

class Printer {
public:
  explicit Printer(const ValueProgram &program) : program_(program) {}

  std::string run() {
    for (const Binding &binding : program_.bindings) {
      text_ += fmt::format("variable {}: {} -> {}\n", binding.variable.value,
                           define(binding.entry), name(binding.exit));
    }
    print(program_.body, 0);
    return std::move(text_);
  }

private:
  static std::string name(ValueId value) {
    return value.isValid() ? fmt::format("%{}", value.value) : "undefined";
  }

  std::string define(ValueId id) const {
    const Value &value = program_[id];
    return fmt::format(
        "{}: {}{}{}", name(id), support::toString(value.type),
        support::toString(value.shape),
        value.layout == kernels::Layout::Plain
            ? ""
            : fmt::format(" layout {}", static_cast<int>(value.layout)));
  }

  std::string show(const Window &window) const {
    if (isWholeInOrder(window, program_[window.value]) &&
        window.shape == program_[window.value].shape) {
      return name(window.value);
    }
    return fmt::format("{}[{} + {} * {}]", name(window.value), window.offset,
                       support::toString(window.shape),
                       support::toString(window.strides));
  }

  void print(const Region &region, int depth) {
    for (const Node &node : region.nodes) {
      node.loop == nullptr ? print(node, depth) : printLoop(node, depth);
    }
  }

  void print(const Node &node, int depth) {
    text_ += std::string(static_cast<std::size_t>(2 * depth), ' ');
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const Definition &output = node.outputs[i];
      text_ += i == 0 ? "" : ", ";
      text_ += define(output.window.value);
      if (output.base.isValid() ||
          !isWholeInOrder(output.window, program_[output.window.value])) {
        text_ += fmt::format(" = {} with {}", name(output.base),
                             show(output.window));
      }
    }
    text_ += node.outputs.empty() ? "" : " <- ";
    text_ += opName(node);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      text_ += (i == 0 ? " " : ", ") + show(node.inputs[i]);
    }
    text_ += fmt::format("  # {} {}\n", node.name, node.kernelName);
  }

  static std::string opName(const Node &node) {
    switch (node.op) {
    case NodeOp::Kernel:
      return std::string(node.kind->name);
    case NodeOp::Copy:
      return "copy";
    case NodeOp::StreamIn:
      return fmt::format("streamIn({})", node.stream.value);
    case NodeOp::Vertices:
      return "vertices";
    case NodeOp::Host:
      return "host";
    case NodeOp::StreamOut:
      return fmt::format("streamOut({})", node.stream.value);
    case NodeOp::Loop:
      return "loop";
    }
    return "";
  }

  void printLoop(const Node &node, int depth) {
    const std::string indent(static_cast<std::size_t>(2 * depth), ' ');
    text_ += fmt::format("{}loop {} times  # {}\n", indent, node.loop->count,
                         node.name);
    for (const Carried &carried : node.loop->carried) {
      text_ += fmt::format("{}  carry {}: {} as {}, then {}\n", indent,
                           name(carried.result), name(carried.initial),
                           name(carried.argument), name(carried.next));
    }
    print(node.loop->body, depth + 1);
  }

  const ValueProgram &program_;
  std::string text_;
};

} // namespace

std::string toString(const ValueProgram &program) {
  return Printer(program).run();
}

} // namespace poplar::compiler
