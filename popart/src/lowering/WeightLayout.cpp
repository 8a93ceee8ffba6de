// Follows a weight to its only reader and back.
#include <lowering/WeightLayout.hpp>

#include <ops/Bodies.hpp>
#include <ops/MatMul.hpp>
#include <ops/View.hpp>
#include <popart/graph.hpp>
#include <popart/op.hpp>
#include <transforms/Passes.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace popart {
namespace {

// An operand, and the views that lie between a weight and it, in their order.
struct Reader {
  const Op *op = nullptr;
  InIndex input = 0;
  std::vector<const Op *> views;
};

bool isCall(const Op &op) {
  return op.opid.domain == "ai.graphcore" && op.opid.type == "Call";
}

// What reads the tensor, if that is one operand of one operation.
std::optional<Reader> soleReader(const Tensor &weight) {
  Reader reader;
  const Tensor *tensor = &weight;
  while (tensor->consumers.size() == 1) {
    const Op &op = *tensor->consumers.front();
    auto found = std::find(op.inputs.begin(), op.inputs.end(), tensor->id);
    if (std::count(found, op.inputs.end(), tensor->id) != 1) {
      return std::nullopt;
    }
    // Behind what is looked at there may be a shape, which is not part of it.
    if (isUnwindableView(op) && found == op.inputs.begin()) {
      reader.views.push_back(&op);
      tensor = &op.getGraph().getTensor(op.outputs.front());
    } else if (isCall(op)) {
      // A function lays out its inputs as the tensors of its first call.
      const Graph &body = bodyOf(op, "callee");
      auto index = static_cast<std::size_t>(found - op.inputs.begin());
      tensor = &body.getTensor(body.getInputIds().at(index));
    } else {
      reader.op = &op;
      reader.input = static_cast<InIndex>(found - op.inputs.begin());
      return reader;
    }
  }
  return std::nullopt;
}

} // namespace

poplar::Tensor addWeight(LoweringContext &context, const Tensor &weight) {
  std::optional<Reader> reader = soleReader(weight);
  std::optional<poplar::Tensor> operand;
  if (reader) {
    operand = createMatMulOperand(context, context.graphOf(homeOf(weight)),
                                  *reader->op, reader->input, weight.id);
  }
  if (!operand) {
    return context.addVariable(weight.info, homeOf(weight), weight.id);
  }
  poplar::Tensor tensor = *operand;
  for (auto view = reader->views.rbegin(); view != reader->views.rend();
       ++view) {
    tensor = unwindView(**view, tensor);
  }
  return tensor;
}

} // namespace popart
