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
      held_.insert(binding.exit);
    }
    for (Node &node : program.body.nodes) {
      if (node.loop != nullptr) {
        hold(*node.loop);
      }
      for (const Definition &output : node.outputs) {
        if (output.base.isValid()) {
          overwriters_[output.base] = &node;
        }
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
             return !isWorthKeeping(*node) || readsWhatStays(*node) ||
                    isOverwrittenByWhatStays(*node);
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
  // What a loop carries, and what is overwritten in it, stays.
  void hold(const Loop &loop) {
    for (const Carried &carried : loop.carried) {
      held_.insert({carried.initial, carried.next, carried.result});
    }
    for (const Node &node : loop.body.nodes) {
      for (const Definition &output : node.outputs) {
        held_.insert(output.base);
      }
      if (node.loop != nullptr) {
        hold(*node.loop);
      }
    }
  }

  // The parts of what is put together by several nodes are read only as a
  // whole, or order would matter.
  bool isComputable(const Node &node,
                    const std::unordered_set<ValueId> &known) const {
    return followsFrom(node, known) &&
           std::none_of(node.outputs.begin(), node.outputs.end(),
                        [&](const Definition &output) {
                          const ValueId value = output.window.value;
                          return held_.contains(value) ||
                                 (overwriters_.contains(value) &&
                                  !analysis_.reads(value).empty());
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
    const std::vector<Node *> all = producers(node);
    return std::any_of(all.begin(), all.end(), [&](const Node *producer) {
      return !taken_.contains(producer);
    });
  }

  bool isOverwrittenByWhatStays(const Node &node) const {
    return std::any_of(
        node.outputs.begin(), node.outputs.end(),
        [&](const Definition &output) {
          const auto found = overwriters_.find(output.window.value);
          return found != overwriters_.end() && !taken_.contains(found->second);
        });
  }

  // Of what it reads and of what it adds to.
  std::vector<Node *> producers(const Node &node) const {
    std::vector<Node *> found;
    const auto add = [&](ValueId value) {
      Node *producer =
          value.isValid() ? analysis_.definingNode(value) : nullptr;
      if (producer != nullptr) {
        found.push_back(producer);
      }
    };
    for (const Window &input : node.inputs) {
      add(input.value);
    }
    for (const Definition &output : node.outputs) {
      add(output.base);
    }
    return found;
  }

  // In the order of the program, so that storage is the same in every build.
  std::vector<ValueId> keptValues() const {
    std::vector<ValueId> kept;
    for (const Node &node : program_.body.nodes) {
      for (const Definition &output : node.outputs) {
        const auto reads = analysis_.reads(output.window.value);
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
    for (Node *producer : producers(node)) {
      addInOrder(*producer, order);
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
  std::unordered_set<ValueId> held_; // by variables and loops
  std::unordered_map<ValueId, const Node *> overwriters_; // by base
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
