// "hasNan": whether any element is not a number, or not finite.
#include "Kinds.hpp"

#include "Reference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"

#include <cmath>
#include <cstring>

namespace kernels {

namespace {

std::vector<TensorType> infer(const Attributes &attributes,
                              std::span<const TensorType> inputs) {
  requireInputCount("hasNan", inputs, 1);
  requireFloating("hasNan", "x", inputs[0]);
  attributes.getInt("orInf");
  return {{DataType::Bool, {}}};
}

void reference(const ReferenceCall &call) {
  const bool orInf = call.signature.attributes.getInt("orInf") != 0;
  const View x = inputView(call, 0);
  bool isFound = false;
  forEachIndex(x.shape(), [&](std::span<const std::int64_t> at) {
    const double value = x.load(at);
    isFound = isFound || (orInf ? !std::isfinite(value) : std::isnan(value));
  });
  std::memcpy(outputView(call, 0).at({}), &isFound, 1);
}

} // namespace

const Kind &hasNanKind() {
  static const Kind kind{"hasNan", infer, reference, hasNanKernels()};
  return kind;
}

} // namespace kernels
