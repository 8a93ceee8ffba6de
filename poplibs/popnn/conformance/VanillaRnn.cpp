// Vanilla recurrent layers and the spatial softmax for the conformance tests.
#include "Libraries.hpp"

#include <poplin/codelets.hpp>
#include <popnn/Recurrent.hpp>
#include <popnn/SpatialSoftMax.hpp>
#include <popnn/codelets.hpp>
#include <popops/codelets.hpp>

namespace conformance {
namespace {

using poplar::Tensor;

void addCodelets(Call &call) {
  popops::addCodelets(call.graph());
  poplin::addCodelets(call.graph());
  popnn::addCodelets(call.graph());
}

popnn::NonLinearityType functionOf(const Call &call) {
  const auto name = call.get<std::string>("function", "TANH");
  return name == "TANH"   ? popnn::NonLinearityType::TANH
         : name == "RELU" ? popnn::NonLinearityType::RELU
                          : popnn::NonLinearityType::GELU;
}

// Forward, and back from a gradient of all outputs.
void rnn(Call &call) {
  addCodelets(call);
  auto &graph = call.graph();
  auto &program = call.program();
  const Tensor &x = call.tensor("x"), &h = call.tensor("h");
  const Tensor &w = call.tensor("w"), &v = call.tensor("v");
  const Tensor &b = call.tensor("b");
  const auto function = functionOf(call);
  const Tensor y = popnn::rnn::rnnFwdSequence(graph, program, h, nullptr, b, w,
                                              v, x, function);
  const auto [dx, dw, dv, db] =
      popnn::rnn::rnnBwdSequence(graph, true, false, program, h, y, b, w, v,
                                 call.tensor("dy"), x, function);
  call.output("y", y);
  call.output("dx", dx);
  call.output("dw", dw);
  call.output("dv", dv);
  call.output("db", db);
}

// The layer whose tensors the creators made, of weights that are all 0.5.
void rnnOfCreators(Call &call) {
  addCodelets(call);
  auto &graph = call.graph();
  auto &program = call.program();
  const Tensor &x = call.tensor("x");
  const auto type = x.elementType();
  const auto steps = static_cast<unsigned>(x.dim(0));
  const auto batch = static_cast<unsigned>(x.dim(1));
  const auto inputs = static_cast<unsigned>(x.dim(2));
  const unsigned outputs = call.get<unsigned>("outputs");
  namespace rnn = popnn::rnn;
  const Tensor in =
      rnn::createInput(graph, steps, batch, inputs, outputs, type);
  const Tensor w =
      rnn::createWeightsInput(graph, steps, batch, inputs, outputs, type);
  const Tensor v = rnn::createWeightsFeedback(graph, batch, outputs, type);
  const Tensor h =
      rnn::createFwdState(graph, type, batch, outputs, program, true, true);
  const Tensor b = graph.addConstant(type, {outputs}, 0.5F);
  graph.setTileMapping(b, 0);
  graph.setInitialValue(w, 0.5F);
  graph.setInitialValue(v, 0.5F);
  program.add(poplar::program::Copy(x, in));
  const Tensor weighted =
      rnn::forwardWeightInput(graph, in, w, program, poplar::FLOAT, true);
  const Tensor y =
      rnn::rnnFwdSequence(graph, program, h, &weighted, b, w, v, in,
                          functionOf(call), poplar::FLOAT, true);
  call.output("y", rnn::getOutputFromFwdState(y));
}

void spatialSoftMax(Call &call) {
  addCodelets(call);
  const auto [expected, temperature] = popnn::spatialSoftMax2D(
      call.graph(), call.program(), call.tensor("fields"),
      call.get<float>("temperature"), call.get<bool>("plain", false));
  call.output("out", expected);
  call.output("temperature", temperature);
}

} // namespace

void addPopnnVanillaRnn(Operations &operations) {
  operations["popnn.rnn"] = rnn;
  operations["popnn.rnnOfCreators"] = rnnOfCreators;
  operations["popnn.spatialSoftMax"] = spatialSoftMax;
}

} // namespace conformance
