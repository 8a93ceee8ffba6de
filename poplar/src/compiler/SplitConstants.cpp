#include "compiler/SplitConstants.hpp"

#include "compiler/Analysis.hpp"
#include "compiler/Patterns.hpp"
#include "compiler/Rewrite.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace poplar::compiler {
namespace {

class ConstantSplitter {
public:
  explicit ConstantSplitter(ValueProgram &program)
      : program_(program), analysis_(program) {
    for (const Binding &binding : program.bindings) {
      if (binding.isKept()) {
        constants_[binding.entry] = binding.variable;
      }
    }
  }

  // Finds what can go; false when that is nothing.
  bool find() {
    std::unordered_set<ValueId> known;
    for (const auto &[entry, variable] : constants_) {
      known.insert(entry);
    }
    for (const Node &node : program_.body.nodes) {
      if (isComputable(node, known)) {
        taken_.insert(&node);
        for (const Definition &output : node.outputs) {
          known.insert(output.window.value);
        }
      }
    }
    // To keep what only leaves the program again would be a waste; what stays
    // keeps its readers.
    while (std::erase_if(taken_, [&](const Node *node) {
             return !isWorthKeeping(*node) || readsWhatStays(*node);
           }) > 0) {
    }
    return !taken_.empty();
  }

  ConstantPart
  split(const std::function<internal::VariableId(std::size_t)> &addVariable) {
    const std::vector<ValueId> kept = keptValues();
    ConstantPart part;
    part.sources = sources();
    for (const auto &[entry, variable] : constants_) {
      part.program.bindings.push_back({variable, entry, entry});
    }
    // What a node needs comes right before it, so that it is not kept for long.
    std::vector<Node *> order;
    for (const ValueId value : kept) {
      addInOrder(*analysis_.definingNode(value), order);
    }
    for (Node *node : order) {
      part.program.body.nodes.push_back(std::move(*node));
    }
    std::vector<Node> rest;
    for (Node &node : program_.body.nodes) {
      if (!taken_.contains(&node)) {
        rest.push_back(std::move(node));
      }
    }
    program_.body.nodes = std::move(rest);
    part.program.values = program_.values;
    for (const ValueId value : kept) {
      const Value &facts = program_[value];
      const auto elements = static_cast<std::size_t>(
          kernels::storageElements(facts.layout, facts.shape));
      const internal::VariableId variable =
          addVariable(elements * support::sizeOf(facts.type));
      program_.bindings.push_back({variable, value, value});
      const ValueId before =
          addValue(part.program, facts.type, facts.shape, facts.name);
      part.program.bindings.push_back({variable, before, value});
    }
    return part;
  }

private:
  bool isComputable(const Node &node,
                    const std::unordered_set<ValueId> &known) const {
    return followsFrom(node, known) &&
           std::none_of(node.outputs.begin(), node.outputs.end(),
                        [&](const Definition &output) {
                          return analysis_.isPinned(output.window.value);
                        });
  }

  template <typename Test>
  bool hasReader(const Node &node, const Test &test) const {
    return std::any_of(node.outputs.begin(), node.outputs.end(),
                       [&](const Definition &output) {
                         const auto &reads =
                             analysis_.reads(output.window.value);
                         return std::any_of(reads.begin(), reads.end(),
                                            [&](const ReadOf &read) {
                                              return test(*read.node);
                                            });
                       });
  }

  bool isWorthKeeping(const Node &node) const {
    return !hasReader(node, [&](const Node &reader) {
      return reader.op != NodeOp::Kernel && !taken_.contains(&reader);
    });
  }

  bool readsWhatStays(const Node &node) const {
    return std::any_of(
        node.inputs.begin(), node.inputs.end(), [&](const Window &input) {
          const Node *producer = analysis_.definingNode(input.value);
          return producer != nullptr && !taken_.contains(producer);
        });
  }

  // In the order of the program, so that storage is the same in every build.
  std::vector<ValueId> keptValues() const {
    std::vector<ValueId> kept;
    for (const Node &node : program_.body.nodes) {
      for (const Definition &output : node.outputs) {
        const auto &reads = analysis_.reads(output.window.value);
        if (taken_.contains(&node) &&
            std::any_of(reads.begin(), reads.end(), [&](const ReadOf &read) {
              return !taken_.contains(read.node);
            })) {
          kept.push_back(output.window.value);
        }
      }
    }
    return kept;
  }

  void addInOrder(Node &node, std::vector<Node *> &order) const {
    if (std::find(order.begin(), order.end(), &node) != order.end()) {
      return;
    }
    for (const Window &input : node.inputs) {
      Node *producer = analysis_.definingNode(input.value);
      if (producer != nullptr) {
        addInOrder(*producer, order);
      }
    }
    order.push_back(&node);
  }

  std::vector<internal::VariableId> sources() const {
    std::vector<internal::VariableId> read;
    for (const Node *node : taken_) {
      for (const Window &input : node->inputs) {
        const auto found = constants_.find(input.value);
        if (found != constants_.end()) {
          read.push_back(found->second);
        }
      }
    }
    return read;
  }

  ValueProgram &program_;
  Analysis analysis_;
  std::unordered_map<ValueId, internal::VariableId> constants_; // by entry
  std::unordered_set<const Node *> taken_;
};

} // namespace

std::optional<ConstantPart> splitConstants(
    ValueProgram &program,
    const std::function<internal::VariableId(std::size_t)> &addVariable) {
  ConstantSplitter splitter(program);
  if (!splitter.find()) {
    return std::nullopt;
  }
  return splitter.split(addVariable);
}

} // namespace poplar::compiler
