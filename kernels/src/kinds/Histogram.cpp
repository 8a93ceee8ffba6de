// "histogram": how many elements lie between levels.
#include "Kinds.hpp"

#include "Reference.hpp"
#include "Rules.hpp"

#include <cmath>

namespace kernels {

namespace {

std::vector<TensorType> infer(const Attributes &attributes,
                              std::span<const TensorType> inputs) {
  requireInputCount("histogram", inputs, 2);
  requireFloating("histogram", "x", inputs[0]);
  requireType("histogram", "levels", inputs[1], {inputs[0].type});
  requireRank("histogram", "levels", inputs[1], 1);
  attributes.getInt("absolute");
  return {{DataType::UnsignedInt, {inputs[1].shape[0] + 1}}};
}

// An element that equals a level lies above it.
void reference(const ReferenceCall &call) {
  const bool isAbsolute = call.signature.attributes.getInt("absolute") != 0;
  const View x = inputView(call, 0);
  const View levels = inputView(call, 1);
  const View counts = outputView(call, 0);
  for (std::int64_t bin = 0; bin < counts.extent(0); ++bin) {
    counts.set(0, bin);
  }
  forEachIndex(x.shape(), [&](std::span<const std::int64_t> at) {
    const double value = isAbsolute ? std::abs(x.load(at)) : x.load(at);
    std::int64_t bin = 0;
    while (bin < levels.extent(0) && value >= levels(bin)) {
      ++bin;
    }
    counts.set(counts(bin) + 1, bin);
  });
}

} // namespace

const Kind &histogramKind() {
  static const Kind kind{"histogram", infer, reference, {}};
  return kind;
}

} // namespace kernels
