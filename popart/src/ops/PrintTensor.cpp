// A tensor that is printed when the program gets there, and its gradient too.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <popart/tensornames.hpp>

#include <poplar/PrintTensor.hpp>

namespace popart {
namespace {

std::string titleOf(const Op &op) {
  std::string title = op.attributes.getString("title", "");
  return title.empty() ? op.inputs[0] : title;
}

char characterOf(const Op &op, const char *name, const char *fallback) {
  std::string text = op.attributes.getString(name, fallback);
  requireOp(op, text.size() == 1, "{} is '{}'; it must be one character", name,
            text);
  return text[0];
}

poplar::PrintTensorFmt formatOf(const Op &op) {
  using Format = poplar::PrintTensorFmt::FloatFormat;
  auto number = [&](const char *name, std::int64_t fallback) {
    std::int64_t value = op.attributes.getInt(name, fallback);
    requireOp(op, value >= 0, "{} is {}; it must not be negative", name, value);
    return static_cast<unsigned>(value);
  };
  unsigned format = number("floatFormat", 0);
  requireOp(op, format <= static_cast<unsigned>(Format::None),
            "floatFormat is {}; 0 (auto), 1 (fixed), 2 (scientific) and 3 "
            "(none) are allowed",
            format);
  return {number("summariseThreshold", 1000),
          number("edgeItems", 3),
          number("maxLineWidth", 75),
          number("digits", 8),
          static_cast<Format>(format),
          characterOf(op, "separator", " "),
          characterOf(op, "openBracket", "["),
          characterOf(op, "closeBracket", "]")};
}

std::vector<TensorInfo> inferPrint(const Op &op) {
  requireInputCount(op, 1, 1);
  formatOf(op);
  return {op.inInfo(0)};
}

void differentiatePrint(GradientBuilder &builder, const Op &op) {
  TensorId gradient = builder.outputGradient(0);
  if (op.attributes.getInt("print_gradient", 1) != 0) {
    Attributes attributes = op.attributes;
    attributes.set("title", titleOf(op) + "_gradient");
    gradient =
        builder.add("ai.graphcore", "PrintTensor", {gradient}, attributes);
  }
  builder.setGradient(0, gradient);
}

void lowerPrint(LoweringContext &context, const Op &op) {
  context.program().add(poplar::program::PrintTensor(
      titleOf(op), context.in(0), formatOf(op), context.debugPath()));
  context.setOut(0, context.in(0));
}

} // namespace

std::vector<OpRule> printTensorRules() {
  return {
      {.domain = "ai.graphcore",
       .type = "PrintTensor",
       .schema = {.attributes = {{"print_gradient", Attributes::Int{1}},
                                 {"title", Attributes::String{}},
                                 {"summariseThreshold", Attributes::Int{1000}},
                                 {"edgeItems", Attributes::Int{3}},
                                 {"maxLineWidth", Attributes::Int{75}},
                                 {"digits", Attributes::Int{8}},
                                 {"floatFormat", Attributes::Int{0}},
                                 {"separator", Attributes::String{" "}},
                                 {"openBracket", Attributes::String{"["}},
                                 {"closeBracket", Attributes::String{"]"}}},
                  .argumentsBeforeContext = 1},
       .infer = inferPrint,
       .differentiate = differentiatePrint,
       .lower = lowerPrint,
       .hasSideEffect = true}};
}

} // namespace popart
