#include <popnn/CTCInference.hpp>
#include <popnn/CTCLoss.hpp>

#include <popnn/LogSoftmax.hpp>
#include <popnn/internal/Kinds.hpp>

#include "Options.hpp"
#include "Recurrent.hpp"

#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

namespace popnn {

using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::Type;
using poplar::program::Sequence;
using poputil::poplibs_error;
using support::requireUser;

namespace ctc {

// The sizes that the plan is for; mappings are linear whatever they are.
struct Plan::Impl {
  std::size_t batchSize, maxTime, numClasses;
};

Plan::Plan() = default;
Plan::~Plan() = default;
Plan::Plan(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Plan::Plan(const Plan &other)
    : impl_(other.impl_ ? std::make_unique<Impl>(*other.impl_) : nullptr) {}
Plan::Plan(Plan &&other) noexcept = default;
Plan &Plan::operator=(const Plan &other) {
  impl_ = other.impl_ ? std::make_unique<Impl>(*other.impl_) : nullptr;
  return *this;
}
Plan &Plan::operator=(Plan &&other) noexcept = default;

} // namespace ctc

namespace {

using internal::OptionKind;

void checkPlanOptions(const OptionFlags &options) {
  internal::Options(options,
                    {{"partialsType", OptionKind::Choice, {"half", "float"}},
                     {"availableMemoryProportion", OptionKind::Number},
                     {"planConstraints", OptionKind::Text}});
}

ctc::Plan makePlan(std::size_t batchSize, std::size_t maxTime,
                   std::size_t numClasses) {
  return ctc::Plan(std::make_unique<ctc::Plan::Impl>(
      ctc::Plan::Impl{batchSize, maxTime, numClasses}));
}

void checkData(const Graph &graph, const Tensor &data, const ctc::Plan &plan) {
  poputil::internal::requireCodelets(graph, "popnn", "popnn::CTCAlpha");
  requireUser<poplibs_error>(
      data.rank() == 3,
      "[popnn::ctc] the data have rank {}; they must be [steps, batch, "
      "classes]",
      data.rank());
  const auto *planned = plan.get();
  requireUser<poplibs_error>(
      planned == nullptr || (planned->maxTime == data.dim(0) &&
                             planned->batchSize == data.dim(1) &&
                             planned->numClasses == data.dim(2)),
      "[popnn::ctc] the data have shape {}; the plan is for another",
      data.shapeToString());
}

struct LossCall {
  const Type &outType;
  const Tensor &labels, &dataLengths, &labelLengths;
  unsigned blankClass;
  bool hasGradient;
};

std::vector<Tensor> loss(Graph &graph, const Tensor &logProbs,
                         const LossCall &call, Sequence &prog,
                         const ctc::Plan &plan,
                         const DebugContext &debugContext,
                         const OptionFlags &flags) {
  const internal::Options options(flags,
                                  {{"includeSoftmaxGradient", OptionKind::Bool},
                                   {"zeroInfinity", OptionKind::Bool}});
  checkData(graph, logProbs, plan);
  requireUser<poplibs_error>(
      call.outType == poplar::HALF || call.outType == poplar::FLOAT,
      "[popnn::ctc] the output type is {}; HALF and FLOAT are allowed",
      std::string(call.outType.toString()));
  return internal::ctcLoss(
      graph,
      {{"blank", std::int64_t{call.blankClass}},
       {"isHalf", std::int64_t{call.outType == poplar::HALF}},
       {"gradient", std::int64_t{call.hasGradient}},
       {"includeSoftmax",
        std::int64_t{options.getBool("includeSoftmaxGradient", true)}},
       {"zeroInfinity", std::int64_t{options.getBool("zeroInfinity", false)}}},
      {logProbs, call.labels, call.dataLengths, call.labelLengths}, prog,
      {debugContext, "CTCLoss"}, {});
}

} // namespace

namespace ctc {

Plan plan(const Graph &, const Type &, const Type &, unsigned batchSize,
          unsigned maxTime, unsigned, unsigned numClasses,
          const OptionFlags &options) {
  checkPlanOptions(options);
  return makePlan(batchSize, maxTime, numClasses);
}

Tensor createDataInput(Graph &graph, const Type &type, std::size_t batchSize,
                       std::size_t maxTime, std::size_t numClasses,
                       const Plan &, const DebugContext &debugContext) {
  return internal::addOperand(graph, type, {maxTime, batchSize, numClasses},
                              {debugContext, "data"});
}

Tensor createLabelsInput(Graph &graph, const Type &type, std::size_t batchSize,
                         std::size_t maxLabelLength, const Plan &,
                         const DebugContext &debugContext) {
  return internal::addOperand(graph, type, {batchSize, maxLabelLength},
                              {debugContext, "labels"});
}

std::pair<Tensor, Tensor> calcLossAndGradientLogProbabilities(
    Graph &graph, const Type &outType, const Tensor &logProbs,
    const Tensor &labels, const Tensor &dataLengths, const Tensor &labelLengths,
    Sequence &prog, unsigned blankClass, const Plan &plan,
    const DebugContext &debugContext, const OptionFlags &options) {
  const auto results =
      loss(graph, logProbs,
           {outType, labels, dataLengths, labelLengths, blankClass, true}, prog,
           plan, debugContext, options);
  return {results[0], results[1]};
}

std::pair<Tensor, Tensor> calcLossAndGradientLogits(
    Graph &graph, const Type &outType, const Tensor &logits,
    const Tensor &labels, const Tensor &dataLengths, const Tensor &labelLengths,
    Sequence &prog, unsigned blankClass, const Plan &plan,
    const DebugContext &debugContext, const OptionFlags &options) {
  return calcLossAndGradientLogProbabilities(
      graph, outType, logSoftmax(graph, logits, prog, debugContext), labels,
      dataLengths, labelLengths, prog, blankClass, plan, debugContext, options);
}

Tensor calcCTCLossLogProbabilities(Graph &graph, const Type &outType,
                                   const Tensor &logProbs, const Tensor &labels,
                                   const Tensor &dataLengths,
                                   const Tensor &labelLengths, Sequence &prog,
                                   unsigned blankClass, const Plan &plan,
                                   const DebugContext &debugContext,
                                   const OptionFlags &options) {
  return loss(graph, logProbs,
              {outType, labels, dataLengths, labelLengths, blankClass, false},
              prog, plan, debugContext, options)
      .front();
}

Tensor calcCTCLossLogits(Graph &graph, const Type &outType,
                         const Tensor &logits, const Tensor &labels,
                         const Tensor &dataLengths, const Tensor &labelLengths,
                         Sequence &prog, unsigned blankClass, const Plan &plan,
                         const DebugContext &debugContext,
                         const OptionFlags &options) {
  return calcCTCLossLogProbabilities(
      graph, outType, logSoftmax(graph, logits, prog, debugContext), labels,
      dataLengths, labelLengths, prog, blankClass, plan, debugContext, options);
}

} // namespace ctc

namespace ctc_infer {

ctc::Plan plan(const Graph &, const Type &, unsigned batchSize,
               unsigned maxTime, unsigned numClasses, unsigned,
               const OptionFlags &options) {
  checkPlanOptions(options);
  return makePlan(batchSize, maxTime, numClasses);
}

Tensor createDataInput(Graph &graph, const Type &type, std::size_t batchSize,
                       std::size_t maxTime, std::size_t numClasses,
                       const ctc::Plan &plan,
                       const DebugContext &debugContext) {
  return ctc::createDataInput(graph, type, batchSize, maxTime, numClasses, plan,
                              debugContext);
}

std::tuple<Tensor, Tensor, Tensor> beamSearchDecoderLogProbabilities(
    Graph &graph, const Tensor &logProbs, const Tensor &lengths, Sequence &prog,
    unsigned blankClass, unsigned beamwidth, unsigned topPaths,
    const ctc::Plan &plan, const DebugContext &debugContext,
    const OptionFlags &options) {
  internal::Options(options, {});
  checkData(graph, logProbs, plan);
  const auto results = internal::ctcBeamSearch(
      graph,
      {{"blank", std::int64_t{blankClass}},
       {"beamWidth", std::int64_t{beamwidth}},
       {"topPaths", std::int64_t{topPaths}}},
      {logProbs, lengths}, prog, {debugContext, "CTCBeamSearch"}, {});
  return {results[0], results[1], results[2]};
}

std::tuple<Tensor, Tensor, Tensor> beamSearchDecoderLogits(
    Graph &graph, const Tensor &logits, const Tensor &lengths, Sequence &prog,
    unsigned blankClass, unsigned beamwidth, unsigned topPaths,
    const ctc::Plan &plan, const DebugContext &debugContext,
    const OptionFlags &options) {
  return beamSearchDecoderLogProbabilities(
      graph, logSoftmax(graph, logits, prog, debugContext), lengths, prog,
      blankClass, beamwidth, topPaths, plan, debugContext, options);
}

} // namespace ctc_infer
} // namespace popnn
