// "elementwise" and "fill": values computed element by element.
#include "Kinds.hpp"

#include "Reference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"

#include "../elementwise/Interpreter.hpp"

#include <utility>

namespace kernels {

namespace {

std::vector<TensorType> inferElementwise(const Attributes &attributes,
                                         std::span<const TensorType> inputs) {
  require(!inputs.empty(), "[elementwise] takes at least one input");
  std::vector<DataType> types;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    require(inputs[i].shape == inputs[0].shape,
            "[elementwise] input {} has shape {}; it must be {}, as input 0", i,
            support::toString(inputs[i].shape),
            support::toString(inputs[0].shape));
    types.push_back(inputs[i].type);
  }
  const auto expression = Expression::fromAttributes(attributes);
  return {{expression.stepTypes(types).back(), inputs[0].shape}};
}

void referenceElementwise(const ReferenceCall &call) {
  const auto expression = Expression::fromAttributes(call.signature.attributes);
  std::vector<DataType> types;
  std::vector<View> inputs;
  for (std::size_t i = 0; i < call.signature.inputs.size(); ++i) {
    inputs.push_back(inputView(call, i));
    types.push_back(inputs[i].type());
  }
  elementwise::Interpreter interpreter(expression, types);
  const View output = outputView(call, 0);
  std::vector<const std::byte *> elements(inputs.size());
  forEachIndex(output.shape(), [&](std::span<const std::int64_t> index) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      elements[i] = inputs[i].at(index);
    }
    interpreter.evaluate(elements, output.at(index));
  });
}

// As many inputs as popops has placeholders may be overwritten.
template <std::uint32_t... Input>
constexpr std::array<InPlacePair, sizeof...(Input)>
pairsOfFirstOutput(std::integer_sequence<std::uint32_t, Input...>) {
  return {{{Input, 0}...}};
}
constexpr auto elementwiseInPlace =
    pairsOfFirstOutput(std::make_integer_sequence<std::uint32_t, 20>());

std::vector<TensorType> inferFill(const Attributes &attributes,
                                  std::span<const TensorType> inputs) {
  requireInputCount("fill", inputs, 0);
  const auto type = attributes.getInt("type");
  require(type >= 0 && type <= static_cast<std::int64_t>(DataType::Float) &&
              static_cast<DataType>(type) != DataType::Quarter,
          "[fill] type {} cannot be filled", type);
  for (auto extent : attributes.getInts("shape")) {
    require(extent >= 0, "[fill] shape has a negative extent, {}", extent);
  }
  return {{static_cast<DataType>(type), attributes.getInts("shape")}};
}

void referenceFill(const ReferenceCall &call) {
  const View output = outputView(call, 0);
  const auto constant = Expression::cast(
      output.type(),
      Expression::constant(call.signature.attributes.getFloat("value")));
  elementwise::Interpreter interpreter(constant, {});
  forEachIndex(output.shape(), [&](std::span<const std::int64_t> index) {
    interpreter.evaluate({}, output.at(index));
  });
}

} // namespace

const Kind &elementwiseKind() {
  static const Kind kind{"elementwise", inferElementwise, referenceElementwise,
                         elementwiseKernels(), elementwiseInPlace};
  return kind;
}

const Kind &fillKind() {
  static const Kind kind{"fill", inferFill, referenceFill, fillKernels()};
  return kind;
}

} // namespace kernels
