// "labelLoss": a loss of each row of outputs by the label of its class, and its
// gradient: the cross entropy of probabilities, by the input of their softmax,
// or half the squared distance from the label's unit vector. A masked label has
// neither.
#include "Kinds.hpp"

#include "LabelLoss.hpp"
#include "Reference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"

#include <cmath>

namespace kernels {

namespace {

std::vector<TensorType> infer(const Attributes &attributes,
                              std::span<const TensorType> inputs) {
  const bool hasScales = attributes.getInt("hasScales") != 0;
  requireInputCount("labelLoss", inputs, hasScales ? 4 : 2);
  requireFloating("labelLoss", "outputs", inputs[0]);
  requireRank("labelLoss", "outputs", inputs[0], 2);
  requireType("labelLoss", "labels", inputs[1],
              {DataType::Int, DataType::UnsignedInt});
  requireShape("labelLoss", "labels", inputs[1], {inputs[0].shape[0]});
  for (std::size_t i = 2; i < inputs.size(); ++i) {
    requireFloating("labelLoss", "scale", inputs[i]);
    require(support::elementCount(inputs[i].shape) == 1,
            "[labelLoss] a scale has shape {}; it must be one number",
            support::toString(inputs[i].shape));
  }
  requireChoice("labelLoss", attributes, "loss",
                {"CROSS_ENTROPY", "SUM_SQUARED"});
  return {{inputs[0].type, {inputs[0].shape[0]}}, inputs[0]};
}

void reference(const ReferenceCall &call) {
  const View outputs = inputView(call, 0);
  const auto &attributes = call.signature.attributes;
  const bool isCrossEntropy = attributes.getString("loss") == "CROSS_ENTROPY";
  const bool hasScales = attributes.getInt("hasScales") != 0;
  const double deltasScale = hasScales ? inputView(call, 2).scalar() : 1;
  const double scaling = hasScales ? inputView(call, 3).scalar() : 1;
  for (std::int64_t n = 0; n < outputs.extent(0); ++n) {
    const auto label = static_cast<std::uint32_t>(
        static_cast<std::int64_t>(inputView(call, 1)(n)));
    double loss = 0;
    for (std::int64_t c = 0; c < outputs.extent(1); ++c) {
      const bool isHit = label == static_cast<std::uint32_t>(c);
      const double p = outputs(n, c) / scaling;
      const double delta = label == maskedLabel ? 0 : p - (isHit ? 1 : 0);
      if (!isCrossEntropy) {
        loss += 0.5 * delta * delta;
      } else if (isHit) {
        loss -= std::log(p + attributes.getFloat("epsilon"));
      }
      outputView(call, 1).set(delta * deltasScale, n, c);
    }
    outputView(call, 0).set(loss, n);
  }
}

} // namespace

const Kind &labelLossKind() {
  static const Kind kind{"labelLoss", infer, reference, labelLossKernels()};
  return kind;
}

} // namespace kernels
