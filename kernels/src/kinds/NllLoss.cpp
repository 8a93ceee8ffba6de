// "nllLoss": minus the log-probability of each sample's label, and its
// gradient.
#include "Kinds.hpp"

#include "Reference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"

#include <algorithm>

namespace kernels {

namespace {

const std::string &requireReduction(std::string_view kind,
                                    const Attributes &attributes) {
  return requireChoice(kind, attributes, "reduction", {"mean", "sum", "none"});
}

std::vector<TensorType> inferForward(const Attributes &attributes,
                                     std::span<const TensorType> inputs) {
  requireInputCount("nllLoss", inputs, 2);
  requireFloating("nllLoss", "logp", inputs[0]);
  requireRank("nllLoss", "logp", inputs[0], 2);
  requireType("nllLoss", "labels", inputs[1], {DataType::Int});
  requireShape("nllLoss", "labels", inputs[1], {inputs[0].shape[0]});
  attributes.getInt("ignoreIndex");
  if (requireReduction("nllLoss", attributes) == "none") {
    return {{inputs[0].type, inputs[1].shape}};
  }
  return {{inputs[0].type, {}}};
}

std::vector<TensorType> inferGrad(const Attributes &attributes,
                                  std::span<const TensorType> inputs) {
  requireInputCount("nllLossGrad", inputs, 2);
  requireFloating("nllLossGrad", "dloss", inputs[0]);
  requireType("nllLossGrad", "labels", inputs[1], {DataType::Int});
  requireRank("nllLossGrad", "labels", inputs[1], 1);
  attributes.getInt("ignoreIndex");
  const auto classes = attributes.getInt("classes");
  require(classes >= 1, "[nllLossGrad] classes is {}; it must be at least 1",
          classes);
  const bool isNone = requireReduction("nllLossGrad", attributes) == "none";
  requireShape("nllLossGrad", "dloss", inputs[0],
               isNone ? inputs[1].shape : Shape{});
  return {{inputs[0].type, {inputs[1].shape[0], classes}}};
}

// A label outside the classes counts as ignored: the device has no way to
// complain.
bool isCounted(double label, std::int64_t classes, std::int64_t ignoreIndex) {
  return label >= 0 && label < static_cast<double>(classes) &&
         (ignoreIndex < 0 || label != static_cast<double>(ignoreIndex));
}

// What a mean divides by: at least 1, so that a mean over no label is 0.
double countLabels(const View &labels, std::int64_t classes,
                   std::int64_t ignoreIndex) {
  double count = 0;
  for (std::int64_t n = 0; n < labels.extent(0); ++n) {
    count += isCounted(labels(n), classes, ignoreIndex) ? 1 : 0;
  }
  return std::max(1.0, count);
}

void referenceForward(const ReferenceCall &call) {
  const auto &attributes = call.signature.attributes;
  const auto &reduction = attributes.getString("reduction");
  const auto ignoreIndex = attributes.getInt("ignoreIndex");
  const View logp = inputView(call, 0);
  const View labels = inputView(call, 1);
  const View loss = outputView(call, 0);
  double sum = 0;
  for (std::int64_t n = 0; n < logp.extent(0); ++n) {
    const double label = labels(n);
    const double value = isCounted(label, logp.extent(1), ignoreIndex)
                             ? -logp(n, static_cast<std::int64_t>(label))
                             : 0;
    sum += value;
    if (reduction == "none") {
      loss.set(value, n);
    }
  }
  if (reduction != "none") {
    loss.setScalar(reduction == "mean"
                       ? sum / countLabels(labels, logp.extent(1), ignoreIndex)
                       : sum);
  }
}

void referenceGrad(const ReferenceCall &call) {
  const auto &attributes = call.signature.attributes;
  const auto &reduction = attributes.getString("reduction");
  const auto ignoreIndex = attributes.getInt("ignoreIndex");
  const View dloss = inputView(call, 0);
  const View labels = inputView(call, 1);
  const View dlogp = outputView(call, 0);
  const auto classes = dlogp.extent(1);
  const double divisor =
      reduction == "mean" ? countLabels(labels, classes, ignoreIndex) : 1;
  for (std::int64_t n = 0; n < dlogp.extent(0); ++n) {
    const double label = labels(n);
    const double gradient = reduction == "none" ? dloss(n) : dloss.scalar();
    for (std::int64_t c = 0; c < classes; ++c) {
      const bool isLabel = label == static_cast<double>(c) &&
                           isCounted(label, classes, ignoreIndex);
      dlogp.set(isLabel ? -gradient / divisor : 0, n, c);
    }
  }
}

} // namespace

const Kind &nllLossKind() {
  static const Kind kind{"nllLoss", inferForward, referenceForward,
                         nllLossKernels()};
  return kind;
}

const Kind &nllLossGradKind() {
  static const Kind kind{"nllLossGrad", inferGrad, referenceGrad,
                         nllLossGradKernels()};
  return kind;
}

} // namespace kernels
