// Non-linearities for the conformance tests.
#include "Libraries.hpp"

#include <popnn/LogSoftmax.hpp>
#include <popnn/NonLinearity.hpp>
#include <popnn/codelets.hpp>
#include <poputil/Util.hpp>

namespace conformance {
namespace {

using popnn::NonLinearityType;

NonLinearityType typeOf(Call &call) {
  using enum NonLinearityType;
  static const std::map<std::string, NonLinearityType> types = {
      {"SIGMOID", SIGMOID},
      {"HARD_SIGMOID", HARD_SIGMOID},
      {"RELU", RELU},
      {"TANH", TANH},
      {"GELU", GELU},
      {"GELU_ERF", GELU_ERF},
      {"SWISH", SWISH},
      {"SOFTMAX", SOFTMAX},
      {"SOFTMAX_STABLE", SOFTMAX_STABLE},
      {"SOFTMAX_SCALED", SOFTMAX_SCALED},
  };
  return types.at(call.get<std::string>("type"));
}

// The result, and the same in place by a sequence and by a compute set.
void nonLinearity(Call &call) {
  auto &graph = call.graph();
  auto &prog = call.program();
  const auto &in = call.tensor("in");
  const auto type = typeOf(call);
  float scaling = 0;
  call.output("out", popnn::nonLinearity(graph, type, in, scaling, prog));
  call.output("scaling", graph.addConstant(poplar::FLOAT, {}, scaling));
  graph.setTileMapping(call.outputs().back().second, 0);
  const auto copy = poputil::duplicate(graph, in, prog);
  popnn::nonLinearityInPlace(graph, type, copy, prog);
  call.output("inPlace", copy);
  if (call.get<bool>("computeSet", false)) {
    const auto other = poputil::duplicate(graph, in, prog);
    auto computeSet = graph.addComputeSet("nl");
    popnn::nonLinearityInPlace(graph, type, other, computeSet);
    prog.add(poplar::program::Execute(computeSet));
    call.output("computeSet", other);
  }
}

void inputGradient(Call &call) {
  auto &graph = call.graph();
  const auto type = typeOf(call);
  call.output("out", popnn::nonLinearityInputGradient(
                         graph, type, call.tensor("act"),
                         call.tensor("outGrad"), call.program()));
  if (call.get<bool>("computeSet", false)) {
    auto computeSet = graph.addComputeSet("nlGrad");
    const auto gradient = popnn::nonLinearityInputGradient(
        graph, type, call.tensor("act"), call.tensor("outGrad"), computeSet);
    call.program().add(poplar::program::Execute(computeSet));
    call.output("computeSet", gradient);
  }
}

void softmax(Call &call) {
  call.output("out",
              popnn::softmax(call.graph(), call.tensor("in"), call.program()));
}

void logSoftmax(Call &call) {
  const auto &in = call.tensor("in");
  call.output("out", popnn::logSoftmax(call.graph(), in, call.program()));
  const auto copy = poputil::duplicate(call.graph(), in, call.program());
  popnn::logSoftmaxInPlace(call.graph(), copy, call.program());
  call.output("inPlace", copy);
}

template <Operation operation> void withCodelets(Call &call) {
  popnn::addCodelets(call.graph());
  operation(call);
}

} // namespace

void addPopnnNonLinearity(Operations &operations) {
  operations["popnn.nonLinearity"] = withCodelets<nonLinearity>;
  operations["popnn.nonLinearityInputGradient"] = withCodelets<inputGradient>;
  operations["popnn.softmax"] = withCodelets<softmax>;
  operations["popnn.logSoftmax"] = withCodelets<logSoftmax>;
}

} // namespace conformance
