// "floatControl", "roundingControl" and "roundHalf": what a program sets of the
// machine's floating-point control, and how its halves are rounded after that.
#include "Kinds.hpp"

#include "Reference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"
#include "random/Philox.hpp"
#include "random/SeedState.hpp"
#include "rounding/RoundingWords.hpp"

namespace kernels {

namespace {

void requireWords(std::string_view kind, std::string_view operand,
                  const TensorType &tensor, std::int64_t count) {
  requireType(kind, operand, tensor, {DataType::UnsignedInt});
  requireShape(kind, operand, tensor, {count});
}

void requireMachineState(std::string_view kind,
                         std::span<const TensorType> inputs) {
  requireWords(kind, "control", inputs[0], 1);
  requireWords(kind, "seeds", inputs[1], 4);
  requireType(kind, "replica", inputs[2], {DataType::UnsignedInt});
}

std::vector<TensorType> inferFloatControl(const Attributes &attributes,
                                          std::span<const TensorType> inputs) {
  const bool hasValue = attributes.getInt("hasValue") != 0;
  requireInputCount("floatControl", inputs, hasValue ? 4 : 3);
  requireMachineState("floatControl", inputs);
  if (hasValue) {
    requireWords("floatControl", "value", inputs[3], 1);
  }
  return {inputs[0]};
}

void referenceFloatControl(const ReferenceCall &call) {
  const Attributes &attributes = call.signature.attributes;
  std::uint32_t word = 0;
  readWords(inputView(call, attributes.getInt("hasValue") != 0 ? 3 : 0), &word);
  word &= ~static_cast<std::uint32_t>(attributes.getInt("clear"));
  word |= static_cast<std::uint32_t>(attributes.getInt("set"));
  writeWords(outputView(call, 0), &word);
}

std::vector<TensorType>
inferRoundingControl(const Attributes &, std::span<const TensorType> inputs) {
  requireInputCount("roundingControl", inputs, 3);
  requireMachineState("roundingControl", inputs);
  return {inputs[1], {DataType::UnsignedInt, {3}}};
}

// The seeds move on only where numbers are drawn.
void referenceRoundingControl(const ReferenceCall &call) {
  std::uint32_t control[3] = {};
  random::Words state;
  readWords(inputView(call, 0), control + 2);
  readWords(inputView(call, 1), state.word);
  if ((control[2] & rounding::stochasticBit) != 0) {
    std::uint32_t replica = 0;
    readWords(inputView(call, 2), &replica);
    const random::Words seed = random::nextSeed(state, 0, replica);
    control[0] = seed.word[0];
    control[1] = seed.word[1];
  }
  writeWords(outputView(call, 0), state.word);
  writeWords(outputView(call, 1), control);
}

std::vector<TensorType> inferRoundHalf(const Attributes &attributes,
                                       std::span<const TensorType> inputs) {
  requireInputCount("roundHalf", inputs, 2);
  requireType("roundHalf", "x", inputs[0], {DataType::Float});
  requireWords("roundHalf", "control", inputs[1], 3);
  require(attributes.getInt("modifier") >= 0,
          "[roundHalf] modifier {} is negative", attributes.getInt("modifier"));
  return {{DataType::Half, inputs[0].shape}};
}

void referenceRoundHalf(const ReferenceCall &call) {
  const Attributes &attributes = call.signature.attributes;
  const View x = inputView(call, 0);
  const View y = outputView(call, 0);
  std::uint32_t words[3];
  readWords(inputView(call, 1), words);
  const rounding::Control control = rounding::controlOf(attributes, words);
  const random::Stream stream = rounding::streamOf(attributes, words);
  std::int64_t element = 0;
  forEachIndex(y.shape(), [&](std::span<const std::int64_t> index) {
    auto value = static_cast<float>(x.load(index));
    if (control.isStochastic) {
      value = rounding::roundStochastically(value,
                                            random::wordOf(stream, element++));
    }
    y.store(index, rounding::limit(value, control));
  });
}

constexpr InPlacePair floatControlInPlace[] = {{0, 0}};
constexpr InPlacePair roundingControlInPlace[] = {{1, 0}};

} // namespace

const Kind &floatControlKind() {
  static const Kind kind{"floatControl",
                         inferFloatControl,
                         referenceFloatControl,
                         {},
                         floatControlInPlace};
  return kind;
}

const Kind &roundingControlKind() {
  static const Kind kind{"roundingControl",
                         inferRoundingControl,
                         referenceRoundingControl,
                         {},
                         roundingControlInPlace};
  return kind;
}

const Kind &roundHalfKind() {
  static const Kind kind{"roundHalf", inferRoundHalf, referenceRoundHalf,
                         roundHalfKernels()};
  return kind;
}

} // namespace kernels
