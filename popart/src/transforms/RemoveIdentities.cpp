// Operations whose result is their input, which models from exporters are full
// of. Each is the work of one of PopART's patterns, and can be turned off by
// it.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>
#include <ops/Custom.hpp>
#include <popart/tensornames.hpp>

#include <algorithm>
#include <string>

namespace popart {
namespace {

bool isOneOf(const std::string &type,
             std::initializer_list<const char *> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

bool isSameOrder(const Op &op) {
  Attributes::Ints order = op.attributes.getInts("perm", {});
  return !order.empty() && std::is_sorted(order.begin(), order.end());
}

// The pattern that sees that an operation does nothing to an input of its type
// and shape; null when it does something.
const char *patternOf(const Op &op) {
  const std::string &type = op.opid.type;
  if (op.outputs.size() != 1 || !op.hasInput(0) ||
      op.inInfo(0) != op.outInfo(0)) {
    return nullptr;
  }
  if (&op.rule() == &customOpRule() && op.canBeReplacedByIdentity()) {
    return "OpToIdentity";
  }
  if (op.opid.domain != "ai.onnx") {
    return nullptr;
  }
  if (type == "Identity") {
    return "PostNRepl";
  }
  if (op.inputs.size() == 1 &&
      isOneOf(type, {"Sum", "Concat", "Max", "Min", "Mean"})) {
    return "PreUniRepl";
  }
  if (type == "Transpose" && isSameOrder(op)) {
    return "TransposeToIdentityOrReshapePattern";
  }
  // The same elements in the same order.
  bool keeps = isOneOf(type, {"Reshape", "Cast", "Expand", "Tile", "Squeeze",
                              "Unsqueeze", "Flatten"});
  return keeps ? "OpToIdentity" : nullptr;
}

} // namespace

void removeIdentities(PassContext &context) {
  GraphEditor editor(context.graph);
  std::vector<Op *> ops;
  for (const auto &op : context.graph.getOps()) {
    ops.push_back(op.get());
  }
  for (Op *op : ops) {
    const char *pattern = patternOf(*op);
    bool goes = pattern && context.ir.patterns.isPatternEnabled(pattern) &&
                op->settings.excludePatterns.count(pattern) == 0 &&
                !isAskedFor(context.ir, op->outputs[0]);
    if (goes) {
      editor.replaceReads(op->outputs[0], op->inputs[0]);
      editor.erase(*op);
    }
  }
}

} // namespace popart
