// Connectionist temporal classification for the conformance tests.
#include "Libraries.hpp"

#include <popnn/CTCInference.hpp>
#include <popnn/CTCLoss.hpp>
#include <popnn/codelets.hpp>

namespace conformance {
namespace {

using poplar::Tensor;

unsigned extent(const Tensor &tensor, unsigned dim) {
  return static_cast<unsigned>(tensor.dim(dim));
}

void ctcLoss(Call &call) {
  popnn::addCodelets(call.graph());
  auto &graph = call.graph();
  const auto &data = call.tensor("data");
  const auto &labels = call.tensor("labels");
  const auto type = call.get<poplar::Type>("type", data.elementType());
  const auto plan =
      popnn::ctc::plan(graph, data.elementType(), type, extent(data, 1),
                       extent(data, 0), extent(labels, 1), extent(data, 2));
  const bool isLogits = call.get<bool>("logits", false);
  const auto blank = call.get<unsigned>("blank", 0);
  const auto both = isLogits ? popnn::ctc::calcLossAndGradientLogits
                             : popnn::ctc::calcLossAndGradientLogProbabilities;
  const auto only = isLogits ? popnn::ctc::calcCTCLossLogits
                             : popnn::ctc::calcCTCLossLogProbabilities;
  const auto [loss, gradient] =
      both(graph, type, data, labels, call.tensor("dataLengths"),
           call.tensor("labelLengths"), call.program(), blank, plan, "ctc",
           call.options());
  call.output("loss", loss);
  call.output("gradient", gradient);
  call.output("only",
              only(graph, type, data, labels, call.tensor("dataLengths"),
                   call.tensor("labelLengths"), call.program(), blank, plan,
                   "ctcLoss", call.options()));
}

void beamSearch(Call &call) {
  popnn::addCodelets(call.graph());
  auto &graph = call.graph();
  const auto &data = call.tensor("data");
  const auto width = call.get<unsigned>("beamwidth");
  const auto plan =
      popnn::ctc_infer::plan(graph, data.elementType(), extent(data, 1),
                             extent(data, 0), extent(data, 2), width);
  const auto decode = call.get<bool>("logits", false)
                          ? popnn::ctc_infer::beamSearchDecoderLogits
                          : popnn::ctc_infer::beamSearchDecoderLogProbabilities;
  const auto [probs, lengths, labels] =
      decode(graph, data, call.tensor("lengths"), call.program(),
             call.get<unsigned>("blank", 0), width,
             call.get<unsigned>("topPaths"), plan, "beam", call.options());
  call.output("probs", probs);
  call.output("lengths", lengths);
  call.output("labels", labels);
}

} // namespace

void addPopnnCtc(Operations &operations) {
  operations["popnn.ctcLoss"] = ctcLoss;
  operations["popnn.beamSearch"] = beamSearch;
}

} // namespace conformance
