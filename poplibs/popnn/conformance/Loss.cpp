// Losses, accuracy and the largest elements for the conformance tests.
#include "Libraries.hpp"

#include <popnn/Loss.hpp>
#include <popnn/codelets.hpp>
#include <poputil/TileMapping.hpp>

namespace conformance {
namespace {

using poplar::Tensor;

Tensor addResult(Call &call, const poplar::Type &type,
                 const std::vector<std::size_t> &shape) {
  const auto tensor = call.graph().addVariable(type, shape, "result");
  poputil::mapTensorLinearly(call.graph(), tensor);
  return tensor;
}

popnn::LossType typeOf(Call &call) {
  return call.get<std::string>("type") == "SUM_SQUARED"
             ? popnn::SUM_SQUARED_LOSS
             : popnn::CROSS_ENTROPY_LOSS;
}

// By the overload that takes what the row has.
void calcLoss(Call &call) {
  popnn::addCodelets(call.graph());
  auto &graph = call.graph();
  const auto &out = call.tensor("out");
  const auto &expected = call.tensor("expected");
  const auto loss = addResult(call, out.elementType(), {out.dim(0)});
  const auto deltas = addResult(call, out.elementType(), out.shape());
  const bool scales = call.hasTensor("deltasScale");
  const bool counts = call.hasTensor("numCorrect");
  const auto type = typeOf(call);
  poplar::program::Sequence prog;
  if (scales && counts) {
    prog.add(popnn::calcLoss(
        graph, out, expected, loss, deltas, call.tensor("deltasScale"),
        call.tensor("outputScaling"), call.tensor("numCorrect"), type));
  } else if (scales) {
    prog.add(popnn::calcLoss(graph, out, expected, loss, deltas,
                             call.tensor("deltasScale"),
                             call.tensor("outputScaling"), type));
  } else if (counts) {
    prog.add(popnn::calcLoss(graph, out, expected, loss, deltas,
                             call.tensor("numCorrect"), type));
  } else {
    prog.add(popnn::calcLoss(graph, out, expected, loss, deltas, type));
  }
  call.program().add(prog);
  call.output("loss", loss);
  call.output("deltas", deltas);
  if (counts) {
    call.output("numCorrect", call.tensor("numCorrect"));
  }
}

void calcAccuracy(Call &call) {
  popnn::addCodelets(call.graph());
  call.program().add(popnn::calcAccuracy(call.graph(), call.tensor("out"),
                                         call.tensor("expected"),
                                         call.tensor("numCorrect")));
  call.output("numCorrect", call.tensor("numCorrect"));
}

void extremes(Call &call) {
  popnn::addCodelets(call.graph());
  auto &graph = call.graph();
  auto &prog = call.program();
  const auto &in = call.tensor("in");
  const auto [top, argTop] = popnn::maxAndArgMax(graph, in, prog);
  const auto [low, argLow] = popnn::minAndArgMin(graph, in, prog);
  call.output("max", top);
  call.output("argMax", argTop);
  call.output("min", low);
  call.output("argMin", argLow);
  call.output("argMax2", popnn::argMax(graph, in, prog));
  call.output("argMin2", popnn::argMin(graph, in, prog));
}

void topK(Call &call) {
  popnn::addCodelets(call.graph());
  Tensor indices;
  call.output("values",
              popnn::topK(call.graph(), call.tensor("in"), indices,
                          call.get<unsigned>("k"), true, call.program()));
  call.output("indices", indices);
}

} // namespace

void addPopnnLoss(Operations &operations) {
  operations["popnn.calcLoss"] = calcLoss;
  operations["popnn.calcAccuracy"] = calcAccuracy;
  operations["popnn.extremes"] = extremes;
  operations["popnn.topK"] = topK;
}

} // namespace conformance
