// Calls: inputs are copied into the function's own tensors, and outputs out of
// them.
#include <lowering/Functions.hpp>

#include <lowering/CopyTogether.hpp>
#include <lowering/HostTensors.hpp>
#include <ops/Bodies.hpp>
#include <transforms/Passes.hpp>

#include <string>

namespace popart {
namespace {

using poplar::program::Sequence;
using TensorList = std::vector<poplar::Tensor>;

// A variable for the elements of `tensor`, which is the one of `graph`: each at
// home where it is now, except where many are copies of one, which may all be
// on the tile of that.
poplar::Tensor addLike(LoweringContext &context, const poplar::Tensor &tensor,
                       const Graph &graph, const TensorId &id) {
  if (tensor.containsAliases() || tensor.containsConstant()) {
    const Tensor &known = graph.getTensor(id);
    return context.addVariable(known.info, homeOf(known), id);
  }
  return context.graph().clone(tensor, id);
}

} // namespace

void Functions::lower(LoweringContext &context, const Op &op,
                      Sequence &program) {
  if (op.opid.type != "Call" || op.opid.domain != "ai.graphcore") {
    context.lower(op, program);
    return;
  }
  const Function &function = of(op, context);
  TensorList inputs;
  for (const TensorId &id : op.inputs) {
    inputs.push_back(context.tensor(id));
  }
  TensorList outputs;
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    // What the function changes goes back to where it was.
    InIndex modified = op.modifiedInput(static_cast<OutIndex>(i));
    outputs.push_back(modified >= 0 ? inputs[static_cast<std::size_t>(modified)]
                                    : addLike(context, function.outputs[i],
                                              op.getGraph(), op.outputs[i]));
    context.setTensor(op.outputs[i], outputs.back());
  }
  const std::string &path = op.settings.name;
  copyTogether(context.graph(), inputs, function.inputs, program,
               path + "/inputs");
  program.add(poplar::program::Call(function.handle, path));
  copyTogether(context.graph(), function.outputs, outputs, program,
               path + "/outputs");
}

// Its tensors are laid out as those of the first call.
const Functions::Function &Functions::of(const Op &call,
                                         LoweringContext &context) {
  const Graph &body = bodyOf(call, "callee");
  auto [found, isNew] = functions_.try_emplace(&body);
  Function &function = found->second;
  if (!isNew) {
    return function;
  }
  LoweringContext inner(context.graph(), context.options());
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const TensorId &id = body.getInputIds().at(i);
    function.inputs.push_back(
        addLike(context, context.tensor(call.inputs[i]), body, id));
    inner.setTensor(id, function.inputs.back());
  }
  addConstants(inner, body, call.settings.vgraphId);
  Sequence program(body.id);
  for (const auto &op : body.getOps()) {
    inner.lower(*op, program);
  }
  for (const TensorId &id : body.getOutputIds()) {
    function.outputs.push_back(inner.tensor(id));
  }
  function.handle = context.graph().addFunction(program);
  return function;
}

} // namespace popart
