#include "compiler/Verify.hpp"

#include "compiler/Analysis.hpp"
#include "compiler/Windows.hpp"

#include <support/Error.hpp>

namespace poplar::compiler {
namespace {

class Verifier {
public:
  Verifier(ValueProgram &program, const std::string &pass)
      : program_(program), pass_(pass), analysis_(program),
        isDefined_(program.values.size()) {}

  void run() {
    for (const Binding &binding : program_.bindings) {
      define(binding.entry, "a binding");
    }
    check(program_.body);
    for (const Binding &binding : program_.bindings) {
      require(isDefined_[binding.exit.index()], "a binding",
              "its exit is not defined");
    }
  }

private:
  void require(bool condition, const std::string &where,
               const std::string &rule) const {
    support::requireInternal(condition, "after {}: {}: {}", pass_, where, rule);
  }

  void define(ValueId value, const std::string &where) {
    require(value.isValid() && value.index() < isDefined_.size(), where,
            "defines an invalid value");
    require(!isDefined_[value.index()], where, "defines a value again");
    isDefined_[value.index()] = true;
  }

  void check(Region &region) {
    for (Node &node : region.nodes) {
      if (node.op == NodeOp::Loop) {
        checkLoop(node);
        continue;
      }
      for (const Window &input : node.inputs) {
        checkRead(node, input);
      }
      for (const Definition &output : node.outputs) {
        checkWindow(node, output.window);
        define(output.window.value, node.name);
        require(!output.base.isValid() || isDefined_[output.base.index()],
                node.name, "updates a base that is not defined");
      }
      checkOp(node);
    }
  }

  void checkRead(const Node &node, const Window &input) {
    checkWindow(node, input);
    if (support::elementCount(input.shape) == 0) {
      return;
    }
    require(isDefined_[input.value.index()], node.name,
            "reads a value that is not defined");
    require(analysis_.isIntact(input.value, analysis_.placeOf(node)), node.name,
            "reads '" + program_[input.value].name +
                "', which was overwritten");
  }

  void checkWindow(const Node &node, const Window &window) {
    require(window.value.isValid() &&
                window.value.index() < program_.values.size(),
            node.name, "has a window onto no value");
    require(window.shape.size() == window.strides.size(), node.name,
            "has a window whose shape and strides differ in rank");
    const Value &value = program_[window.value];
    const ElementRange range = elementRange(window);
    require(range.begin >= 0 && range.end <= support::elementCount(value.shape),
            node.name, "has a window that leaves its value");
    require(value.layout == kernels::Layout::Plain ||
                isWholeInOrder(window, value),
            node.name, "has a window onto part of a value with a layout");
  }

  void checkOp(const Node &node) {
    switch (node.op) {
    case NodeOp::Kernel:
      checkKernel(node);
      break;
    case NodeOp::Copy: {
      const Window &from = node.inputs.at(0);
      const Window &to = node.outputs.at(0).window;
      require(from.shape == to.shape, node.name, "copies between shapes");
      require(support::sizeOf(program_[from.value].type) ==
                  support::sizeOf(program_[to.value].type),
              node.name, "copies between element sizes");
      break;
    }
    case NodeOp::StreamIn:
      require(isContiguous(node.outputs.at(0).window), node.name,
              "streams into a window that is not contiguous");
      break;
    case NodeOp::StreamOut:
      require(isContiguous(node.inputs.at(0)), node.name,
              "streams from a window that is not contiguous");
      break;
    case NodeOp::Vertices:
      checkVertices(node);
      break;
    case NodeOp::Host:
      for (const Window &input : node.inputs) {
        require(isContiguous(input), node.name,
                "gives the host a window that is not contiguous");
      }
      break;
    case NodeOp::Loop:
      break;
    }
  }

  void checkVertices(const Node &node) {
    for (const Window &input : node.inputs) {
      require(isWholeInOrder(input, program_[input.value]), node.name,
              "shows vertices a part of a variable");
    }
    for (std::size_t o = 0;
         o + (node.hasExitStatus ? 1 : 0) < node.outputs.size(); ++o) {
      const Definition &output = node.outputs[o];
      require(isWholeInOrder(output.window, program_[output.window.value]),
              node.name, "lets vertices write to a part of a variable");
      require(!output.base.isValid() ||
                  analysis_.isIntact(output.base, analysis_.placeOf(node)),
              node.name, "updates a base that was overwritten");
    }
  }

  void checkKernel(const Node &node) {
    std::vector<kernels::TensorType> inputs;
    for (const Window &input : node.inputs) {
      inputs.push_back({program_[input.value].type, input.shape});
    }
    const auto results = node.kind->infer(node.attributes, inputs);
    require(results.size() == node.outputs.size(), node.name,
            "has another number of results than its kind");
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Window &window = node.outputs[i].window;
      require(results[i].shape == window.shape &&
                  results[i].type == program_[window.value].type,
              node.name,
              fmt::format("result {} has shape {}; its kind infers {}", i,
                          support::toString(window.shape),
                          support::toString(results[i].shape)));
    }
  }

  void checkLoop(Node &node) {
    Loop &loop = *node.loop;
    require(loop.count > 0, node.name, "is a loop that never runs");
    for (const Carried &carried : loop.carried) {
      require(!carried.initial.isValid() || isDefined_[carried.initial.index()],
              node.name, "carries an initial value that is not defined");
      if (carried.argument.isValid()) {
        define(carried.argument, node.name);
      }
    }
    check(loop.body);
    for (const Carried &carried : loop.carried) {
      require(carried.next.isValid() && isDefined_[carried.next.index()],
              node.name, "carries a value that its body does not define");
      define(carried.result, node.name);
    }
  }

  ValueProgram &program_;
  const std::string &pass_;
  Analysis analysis_;
  std::vector<bool> isDefined_;
};

} // namespace

void verify(ValueProgram &program, const std::string &pass) {
  Verifier(program, pass).run();
}

} // namespace poplar::compiler
