// LSTM and GRU layers for the conformance tests.
#include "Libraries.hpp"

#include <popnn/Gru.hpp>
#include <popnn/Lstm.hpp>
#include <popnn/codelets.hpp>

namespace conformance {
namespace {

using poplar::Tensor;

popnn::NonLinearityType functionOf(Call &call, const char *name,
                                   const char *otherwise) {
  using enum popnn::NonLinearityType;
  static const std::map<std::string, popnn::NonLinearityType> types = {
      {"SIGMOID", SIGMOID},
      {"HARD_SIGMOID", HARD_SIGMOID},
      {"RELU", RELU},
      {"TANH", TANH},
      {"GELU", GELU}};
  return types.at(call.get<std::string>(name, otherwise));
}

// Parameters by the row's tensors; run-time steps where it has some.
template <typename Params, typename Unit>
Params paramsOf(Call &call, const std::vector<Unit> &order) {
  const auto &in = call.tensor("in");
  const std::vector<std::size_t> sizes{in.dim(2), call.tensor("h").dim(1)};
  const auto activation = functionOf(call, "activation", "TANH");
  const auto recurrent = functionOf(call, "recurrent", "SIGMOID");
  Params params =
      call.hasTensor("steps")
          ? Params(in.elementType(), in.dim(1), in.dim(0), call.tensor("steps"),
                   sizes, activation, recurrent)
          : Params(in.elementType(), in.dim(1), in.dim(0), sizes, activation,
                   recurrent);
  params.outputFullSequence = call.get<bool>("full", true);
  params.cellOrder = order;
  for (const auto unit : call.get<std::vector<int>>("order", {})) {
    if (params.cellOrder.size() == order.size()) {
      params.cellOrder.clear();
    }
    params.cellOrder.push_back(static_cast<Unit>(unit));
  }
  return params;
}

void lstm(Call &call) {
  using namespace popnn::lstm;
  popnn::addCodelets(call.graph());
  auto &graph = call.graph();
  auto &prog = call.program();
  const auto params =
      paramsOf<LstmParams>(call, getDefaultBasicLstmCellOrder());
  const auto &in = call.tensor("in");
  const LstmState state{call.tensor("h"), call.tensor("c")};
  const LstmWeights weights{call.tensor("wIn"), call.tensor("wOut"),
                            call.tensor("b")};
  Tensor kept, inputGrad;
  const auto [output, cell] = lstmFwd(graph, params, state, in, weights, &kept,
                                      prog, "fwd", call.options());
  call.output("out", output);
  call.output("cell", cell);
  call.output("inference", lstmFwd(graph, params, state, in, weights, nullptr,
                                   prog, "inference", call.options())
                               .first);
  LstmWeights weightsGrad;
  const LstmState last{call.tensor("dhLast"), call.tensor("dcLast")};
  const auto stateGrad =
      lstmBwdWithWU(graph, params, prog, state, kept, weights, in, output,
                    call.tensor("outGrad"), &last, &inputGrad, weightsGrad,
                    "bwd", call.options());
  call.output("inGrad", inputGrad);
  call.output("hGrad", stateGrad.output);
  call.output("cGrad", stateGrad.cellState);
  call.output("wInGrad", weightsGrad.inputWeights);
  call.output("wOutGrad", weightsGrad.outputWeights);
  call.output("bGrad", weightsGrad.biases);
}

// Only the gradient of the last cell state, and none of the input.
void lstmBwd(Call &call) {
  using namespace popnn::lstm;
  popnn::addCodelets(call.graph());
  auto &graph = call.graph();
  auto &prog = call.program();
  auto params = paramsOf<LstmParams>(call, getDefaultBasicLstmCellOrder());
  params.calcInputGradients = call.get<bool>("calcInputGradients", false);
  const auto &in = call.tensor("in");
  const LstmState state{call.tensor("h"), call.tensor("c")};
  const LstmWeights weights{call.tensor("wIn"), call.tensor("wOut"),
                            call.tensor("b")};
  Tensor kept, bwdKept, inputGrad;
  const auto output =
      lstmFwd(graph, params, state, in, weights, &kept, prog).first;
  const auto &last = call.tensor("dcLast");
  const auto stateGrad = popnn::lstm::lstmBwd(
      graph, params, prog, state, kept, weights, in, output,
      call.tensor("outGrad"), &last,
      call.get<bool>("asksInputGrad", false) ? &inputGrad : nullptr, &bwdKept);
  call.output("hGrad", stateGrad.output);
  call.output("cGrad", stateGrad.cellState);
  call.output("wInGrad", lstmWU(graph, params, prog, state, kept, bwdKept,
                                weights, in, output)
                             .inputWeights);
}

void gru(Call &call) {
  using namespace popnn::gru;
  popnn::addCodelets(call.graph());
  auto &graph = call.graph();
  auto &prog = call.program();
  auto params = paramsOf<GruParams>(call, getDefaultBasicGruCellOrder());
  params.resetAfter = call.get<bool>("resetAfter", false);
  const auto &in = call.tensor("in");
  const auto &state = call.tensor("h");
  const GruWeights weights{call.tensor("wIn"), call.tensor("wOut"),
                           call.tensor("b")};
  const auto &options = call.options();
  const auto &outGrad = call.tensor("outGrad");
  Tensor kept, inputGrad, attentionGrad;
  GruWeights weightsGrad;
  Tensor output, stateGrad;
  if (call.hasTensor("attention")) {
    const auto &attention = call.tensor("attention");
    output = auGruFwd(graph, params, state, in, weights, &kept, attention, prog,
                      "fwd", options);
    stateGrad =
        auGruBwdWithWU(graph, params, prog, state, kept, weights, in, output,
                       outGrad, &inputGrad, weightsGrad, attention,
                       &attentionGrad, "bwd", options, nullptr);
    call.output("attentionGrad", attentionGrad);
  } else if (call.hasTensor("realTimeSteps")) {
    const auto &steps = call.tensor("realTimeSteps");
    output = gruFwd(graph, params, state, in, steps, weights, &kept, prog,
                    "fwd", options);
    stateGrad = gruBwdWithWU(graph, params, prog, state, kept, weights, in,
                             steps, output, outGrad, &inputGrad, weightsGrad,
                             "bwd", options, nullptr);
  } else {
    output =
        gruFwd(graph, params, state, in, weights, &kept, prog, "fwd", options);
    stateGrad =
        gruBwdWithWU(graph, params, prog, state, kept, weights, in, output,
                     outGrad, &inputGrad, weightsGrad, "bwd", options, nullptr);
  }
  call.output("out", output);
  call.output("inGrad", inputGrad);
  call.output("hGrad", stateGrad);
  call.output("wInGrad", weightsGrad.inputWeights);
  call.output("wOutGrad", weightsGrad.outputWeights);
  call.output("bGrad", weightsGrad.biases);
}

} // namespace

void addPopnnRecurrent(Operations &operations) {
  operations["popnn.lstm"] = lstm;
  operations["popnn.lstmBwd"] = lstmBwd;
  operations["popnn.gru"] = gru;
}

} // namespace conformance
