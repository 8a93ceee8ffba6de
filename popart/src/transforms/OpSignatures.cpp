// Equality of operations: a text for most of it, a look at the rest.
#include <transforms/OpSignatures.hpp>

#include <ir/Print.hpp>
#include <ops/OpRule.hpp>
#include <support/Shape.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace popart {
namespace {

std::string textOf(const Op &op) {
  const Op::Settings &at = op.settings;
  std::string text = fmt::format("{}.{}:{} {} {} {}", op.opid.domain,
                                 op.opid.type, op.opid.version, at.vgraphId,
                                 static_cast<int>(at.executionContext),
                                 static_cast<int>(at.tileSet));
  auto addTensors = [&](const std::vector<TensorId> &ids) {
    text += " |";
    for (const TensorId &id : ids) {
      text += ' ';
      if (!id.empty()) {
        const TensorInfo &info = op.getGraph().getTensor(id).info;
        text += info.data_type() + support::toString(info.shape());
      }
    }
  };
  addTensors(op.inputs);
  addTensors(op.outputs);
  for (const auto &[name, value] : at.extraOutlineAttributes) {
    text += " " + name + "=" + value;
  }
  return text + " " + ownAttributes(op);
}

// Without what tells the numbers of two random operations apart: the machine
// takes it from a tensor.
Attributes attributesOf(const Op &op) {
  Attributes attributes = op.attributes;
  if (attributes.hasAttribute("seedModifier")) {
    attributes.set("seedModifier", Attributes::Int{0});
  }
  return attributes;
}

// A rule may look at what is in a constant.
bool haveEqualConstants(const Op &a, const Op &b) {
  for (std::size_t i = 0; i < a.inputs.size(); ++i) {
    if (a.inputs[i].empty()) {
      continue;
    }
    const Tensor &x = a.getGraph().getTensor(a.inputs[i]);
    const Tensor &y = b.getGraph().getTensor(b.inputs[i]);
    bool isConstant = x.type == TensorType::Const;
    if (isConstant != (y.type == TensorType::Const) ||
        (isConstant && x.id != y.id && x.data != y.data)) {
      return false;
    }
  }
  return true;
}

} // namespace

int OpSignatures::of(const Op &op) {
  std::vector<Known> &candidates = known_[textOf(op)];
  auto found = std::find_if(
      candidates.begin(), candidates.end(), [&](const Known &known) {
        return attributesOf(*known.op) == attributesOf(op) &&
               haveEqualConstants(*known.op, op);
      });
  if (found != candidates.end()) {
    return found->number;
  }
  candidates.push_back({&op, next_});
  return next_++;
}

} // namespace popart
