// "toQuarter" and "fromQuarter" on row-major operands: rounding by integer
// arithmetic, values from a table. Halves go through copies in float.
#include "FastKernels.hpp"
#include "HalfPlan.hpp"
#include "PlanHelpers.hpp"

#include "rounding/QuarterCodes.hpp"

#include <algorithm>
#include <array>

namespace kernels {

namespace {

using rounding::QuarterFormat;

std::uint8_t quarterCode(float value, const QuarterFormat &format,
                         float scale) {
  const float scaled = value * scale;
  const auto bits = __builtin_bit_cast(std::uint32_t, scaled);
  const auto magnitude = static_cast<std::int32_t>(bits & 0x7fffffff);
  constexpr std::int32_t infinity = 0x7f800000;
  // Normal: the carry of the rounding to even runs into the exponent.
  const int shift = 23 - format.mantissaBits;
  const std::int32_t tie = (magnitude >> shift & 1) + (1 << (shift - 1)) - 1;
  const std::int32_t limited = std::min(magnitude, infinity);
  const std::int32_t normal =
      ((limited + tie) >> shift) - ((127 - format.bias) << format.mantissaBits);
  // Subnormal: adding 2^23 units leaves whole units, rounded to even.
  const std::int32_t smallestNormal = (128 - format.bias) << 23;
  const float unit = __builtin_bit_cast(
      float, smallestNormal - (format.mantissaBits << 23) + (23 << 23));
  const std::int32_t subnormal =
      __builtin_bit_cast(
          std::int32_t,
          __builtin_bit_cast(float, std::min(magnitude, smallestNormal)) +
              unit) -
      __builtin_bit_cast(std::int32_t, unit);
  const std::int32_t code =
      std::min(magnitude < smallestNormal ? subnormal : normal, 0x7f);
  const std::int32_t sign =
      code != 0 ? static_cast<std::int32_t>(bits >> 24 & 0x80) : 0;
  return static_cast<std::uint8_t>(magnitude > infinity ? rounding::quarterNan
                                                        : code | sign);
}

// Shards of elements of both operands.
class QuarterPlan : public Plan {
protected:
  QuarterPlan(const Signature &signature, double nanosecondsPerElement) {
    constexpr std::int64_t line = 64; // elements
    const auto elements = support::elementCount(signature.outputs[0].shape);
    const auto lines = (elements + line - 1) / line;
    const double work = nanosecondsPerElement * static_cast<double>(elements);
    const auto count = shardCount(lines, work);
    for (std::int64_t i = 0; i < count && lines > 0; ++i) {
      const auto range = shardRange(lines, count, i);
      const ShardRange part{range.begin * line,
                            std::min(range.end * line, elements)};
      shards_.push_back(part);
      tasks_.push_back({0,
                        work / static_cast<double>(count),
                        {elementAccess(signature, 0, part.begin, part.end),
                         wholeAccess(signature, 1),
                         elementAccess(signature, 2, part.begin, part.end)}});
    }
  }

  std::vector<ShardRange> shards_;
};

class ToQuarterPlan final : public QuarterPlan {
public:
  explicit ToQuarterPlan(const Signature &signature)
      : QuarterPlan(signature, 1.0) {}

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    const auto *x = dataOf<const float>(operands, 0);
    auto *y = dataOf<std::uint8_t>(operands, 2);
    const QuarterFormat format =
        rounding::quarterFormat(*dataOf<const std::uint8_t>(operands, 1));
    const float scale = std::ldexp(1.0f, -format.scale);
    for (auto i = shards_[task].begin; i < shards_[task].end; ++i) {
      y[i] = quarterCode(x[i], format, scale);
    }
  }
};

class FromQuarterPlan final : public QuarterPlan {
public:
  explicit FromQuarterPlan(const Signature &signature)
      : QuarterPlan(signature, 0.5) {}

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    const auto *x = dataOf<const std::uint8_t>(operands, 0);
    auto *y = dataOf<float>(operands, 2);
    const QuarterFormat format =
        rounding::quarterFormat(*dataOf<const std::uint8_t>(operands, 1));
    std::array<float, 256> values;
    for (std::size_t code = 0; code < values.size(); ++code) {
      values[code] =
          rounding::quarterValue(static_cast<std::uint8_t>(code), format);
    }
    for (auto i = shards_[task].begin; i < shards_[task].end; ++i) {
      y[i] = values[x[i]];
    }
  }
};

template <typename Planned>
std::unique_ptr<Plan> planFloat(const Signature &signature) {
  const bool isFloat = signature.inputs[0].type == DataType::Float ||
                       signature.outputs[0].type == DataType::Float;
  if (!isFloat || !isAllRowMajor(signature)) {
    return nullptr;
  }
  return std::make_unique<Planned>(signature);
}

constexpr KernelEntry toEntries[] = {
    {"float", allPlain, planFloat<ToQuarterPlan>},
    {"half", allPlain, planAsFloat<planFloat<ToQuarterPlan>>}};
constexpr KernelEntry fromEntries[] = {
    {"float", allPlain, planFloat<FromQuarterPlan>},
    {"half", allPlain, planAsFloat<planFloat<FromQuarterPlan>>}};

} // namespace

std::span<const KernelEntry> toQuarterKernels() {
  return toEntries;
}
std::span<const KernelEntry> fromQuarterKernels() {
  return fromEntries;
}

} // namespace kernels
