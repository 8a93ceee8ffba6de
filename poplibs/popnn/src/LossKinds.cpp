// The negative log-likelihood loss and its gradient as whole kinds, and the
// list of all kinds' functions.
#include <popnn/internal/Kinds.hpp>

#include <kernels/cost/NeuralNet.hpp>
#include <poplar/internal/Access.hpp>
#include <poplin/internal/Kinds.hpp>
#include <poplin/internal/NormKinds.hpp>
#include <popops/internal/IndexingKinds.hpp>
#include <popops/internal/Kinds.hpp>
#include <popops/internal/Passes.hpp>
#include <poputil/internal/Emit.hpp>

namespace popnn::internal {

using kernels::Attributes;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Sequence;
using popops::internal::PassList;

std::vector<Tensor> nllLoss(Graph &graph, const Attributes &attributes,
                            const std::vector<Tensor> &inputs,
                            Sequence &program, const DebugContext &debugContext,
                            const poplar::OptionFlags &) {
  const auto &logp = inputs[0];
  const auto outputs = poputil::internal::addOutputs(
      graph, "nllLoss", attributes, inputs,
      poputil::internal::tilesOf(graph, logp), debugContext);
  const auto type = poplar::internal::tensorView(logp).type;
  PassList passes(graph);
  passes.pass("LossPartial", {}, logp,
              [type](const kernels::cost::TileSpec &tile, std::uint64_t n) {
                return poputil::internal::workerVertices(
                    poputil::internal::vertexName(
                        "popnn::LossCrossEntropyTransform", {type}),
                    tile.workers,
                    kernels::cost::lossCrossEntropy(type, perWorker(tile, n)),
                    5, n);
              });
  passes.reduce("Loss", "ADD", logp, outputs.front().numElements(), true);
  poputil::internal::emit(
      graph, program, {"nllLoss", attributes, inputs, outputs, passes.take()},
      debugContext);
  return outputs;
}

std::vector<Tensor> nllLossGrad(Graph &graph, const Attributes &attributes,
                                const std::vector<Tensor> &inputs,
                                Sequence &program,
                                const DebugContext &debugContext,
                                const poplar::OptionFlags &) {
  const auto &labels = inputs[1];
  const auto outputs = poputil::internal::addOutputs(
      graph, "nllLossGrad", attributes, inputs,
      poputil::internal::tilesOf(graph, labels), debugContext);
  const auto &gradient = outputs.front();
  const auto type = poplar::internal::tensorView(gradient).type;
  const auto classes = gradient.dim(1);
  PassList passes(graph);
  passes.pass(
      "EncodeOneHot", {}, gradient,
      [=](const kernels::cost::TileSpec &tile, std::uint64_t n) {
        const auto indices = kernels::cost::ceilDiv(
            perWorker(tile, n), std::max<std::size_t>(classes, 1));
        return poputil::internal::workerVertices(
            poputil::internal::vertexName(
                "popops::EncodeOneHot", {support::DataType::UnsignedInt, type}),
            tile.workers, kernels::cost::encodeOneHot(type, indices), 2);
      });
  passes.elementwise("MulGradient", "MULTIPLY", gradient, true);
  poputil::internal::emit(
      graph, program,
      {"nllLossGrad", attributes, inputs, outputs, passes.take()},
      debugContext);
  return outputs;
}

std::vector<Tensor> labelLoss(Graph &graph, const Attributes &attributes,
                              const std::vector<Tensor> &operands,
                              Sequence &program,
                              const DebugContext &debugContext,
                              const poplar::OptionFlags &) {
  const std::size_t count = attributes.getInt("hasScales") != 0 ? 4 : 2;
  const std::vector<Tensor> inputs(
      operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(count));
  const std::vector<Tensor> outputs =
      operands.size() > count
          ? std::vector<Tensor>{operands[count], operands[count + 1]}
          : poputil::internal::addOutputs(
                graph, "labelLoss", attributes, inputs,
                poputil::internal::tilesOf(graph, inputs.front()),
                debugContext);
  const auto &deltas = outputs[1];
  const auto type = poplar::internal::tensorView(deltas).type;
  const bool isCrossEntropy = attributes.getString("loss") == "CROSS_ENTROPY";
  PassList passes(graph);
  passes.pass("LossPartial", inputs, deltas,
              [=](const kernels::cost::TileSpec &tile, std::uint64_t n) {
                const auto mine = perWorker(tile, n);
                return poputil::internal::workerVertices(
                    poputil::internal::vertexName(
                        isCrossEntropy ? "popnn::LossCrossEntropyTransform"
                                       : "popnn::LossSumSquaredTransform",
                        {type}),
                    tile.workers,
                    isCrossEntropy ? kernels::cost::lossCrossEntropy(type, mine)
                                   : kernels::cost::lossSumSquared(type, mine),
                    4, 2 * mine);
              });
  passes.reduce("LossReduce", "ADD", deltas, outputs[0].numElements(), true);
  poputil::internal::emit(
      graph, program, {"labelLoss", attributes, inputs, outputs, passes.take()},
      debugContext);
  return outputs;
}

namespace {

struct NamedFunction {
  std::string_view kind;
  poputil::internal::KindFunction *function;
};
constexpr NamedFunction functions[] = {
    {"elementwise", popops::internal::elementwise},
    {"fill", popops::internal::fill},
    {"reduce", popops::internal::reduce},
    {"dynamicSlice", popops::internal::dynamicSlice},
    {"dynamicUpdate", popops::internal::dynamicUpdate},
    {"topK", popops::internal::topK},
    {"cumulate", popops::internal::cumulate},
    {"sgdUpdate", popops::internal::sgdUpdate},
    {"adamUpdate", popops::internal::adamUpdate},
    {"rmspropUpdate", popops::internal::rmspropUpdate},
    {"matmul", poplin::internal::matMul},
    {"convolution", poplin::internal::convolution},
    {"convolutionDataGrad", poplin::internal::convolutionDataGrad},
    {"convolutionWeightGrad", poplin::internal::convolutionWeightGrad},
    {"maxPool", maxPool},
    {"maxPoolGrad", maxPoolGrad},
    {"pool", pool},
    {"poolGrad", poolGrad},
    {"groupNorm", groupNorm},
    {"groupNormGrad", groupNormGrad},
    {"batchNorm", poplin::internal::batchNorm},
    {"batchNormGrad", poplin::internal::batchNormGrad},
    {"normStatistics", poplin::internal::normStatistics},
    {"normStatisticsGrad", poplin::internal::normStatisticsGrad},
    {"normParamGrad", poplin::internal::normParamGrad},
    {"softmax", softmax},
    {"softmaxGrad", softmaxGrad},
    {"logSoftmax", logSoftmax},
    {"logSoftmaxGrad", logSoftmaxGrad},
    {"nllLoss", nllLoss},
    {"nllLossGrad", nllLossGrad},
    {"labelLoss", labelLoss},
    {"ctcLoss", ctcLoss},
    {"ctcBeamSearch", ctcBeamSearch},
    {"lstm", lstm},
    {"lstmGrad", lstmGrad},
    {"lstmWeightGrad", lstmWeightGrad},
    {"gru", gru},
    {"gruGrad", gruGrad},
    {"gruWeightGrad", gruWeightGrad},
};

} // namespace

poputil::internal::KindFunction *findKindFunction(std::string_view kind) {
  for (const auto &row : functions) {
    if (row.kind == kind) {
      return row.function;
    }
  }
  return nullptr;
}

} // namespace popnn::internal
