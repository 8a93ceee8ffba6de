#include <popops/ScaledAdd.hpp>

#include "Options.hpp"

#include <popops/internal/ElementwisePlan.hpp>

#include <kernels/cost/Elementwise.hpp>
#include <poplar/internal/Access.hpp>
#include <poputil/Util.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

#include <fmt/core.h>

#include <variant>

namespace popops {

using kernels::ElementwiseOp;
using kernels::Expression;
using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::program::Sequence;
using support::DataType;

namespace {

using Scale = std::variant<float, Tensor>;

struct Call {
  Tensor a;
  Tensor b;
  Scale scaleA = 1.0f;
  Scale scaleB = 1.0f;
  bool isSubtract = false;
  bool keepsA = false; // A itself is added to the scaled A, which is subtracted
};

bool isOne(const Scale &scale) {
  const auto *value = std::get_if<float>(&scale);
  return value != nullptr && *value == 1.0f;
}

constexpr internal::OptionRule optionRules[] = {
    {"optimizeForSpeed", internal::OptionRule::Kind::Boolean},
    {"scaleFloatToHalfTolerance", internal::OptionRule::Kind::Number},
};

double toleranceOf(const OptionFlags &options) {
  for (const auto &option : options) {
    if (option.first == "scaleFloatToHalfTolerance") {
      return std::stod(option.second);
    }
  }
  return 1e-6;
}

// Puts the expression of a call together. Values are FLOAT where A is HALF.
class Formula {
public:
  Formula(const Graph &graph, const Call &call, const OptionFlags &options)
      : target_(graph.getTarget()), call_(call),
        tolerance_(toleranceOf(options)), inputs_{call.a, call.b},
        type_(typeOf(call.a)),
        computes_(type_ == DataType::Half ? DataType::Float : type_) {}

  Expression build() {
    auto left = scaled(0, call_.scaleA);
    if (call_.keepsA) {
      left = apply(ElementwiseOp::SUBTRACT, value(0), std::move(left));
    }
    auto sum =
        apply(call_.isSubtract ? ElementwiseOp::SUBTRACT : ElementwiseOp::ADD,
              std::move(left), scaled(1, call_.scaleB));
    return computes_ == type_ ? sum : Expression::cast(type_, std::move(sum));
  }
  // A, B and the scales that are tensors, once build() has run.
  const std::vector<Tensor> &inputs() const { return inputs_; }

private:
  static DataType typeOf(const Tensor &tensor) {
    return poplar::internal::tensorView(tensor).type;
  }
  static Expression apply(ElementwiseOp op, Expression left, Expression right) {
    return Expression::apply(op, {std::move(left), std::move(right)});
  }

  Expression value(unsigned input) const {
    auto result = Expression::input(input);
    return typeOf(inputs_[input]) == computes_
               ? result
               : Expression::cast(computes_, std::move(result));
  }

  Expression scaled(unsigned input, const Scale &scale) {
    if (isOne(scale)) {
      return value(input);
    }
    if (const auto *factor = std::get_if<float>(&scale)) {
      const bool fitsHalf =
          type_ == DataType::Half &&
          poputil::checkAccuracyWhenCast(target_, *factor, poplar::FLOAT,
                                         poplar::HALF, tolerance_);
      return apply(ElementwiseOp::MULTIPLY, value(input),
                   Expression::constant(
                       fitsHalf
                           ? poputil::castToDeviceHalfValue(target_, *factor)
                           : *factor));
    }
    const auto &tensor = std::get<Tensor>(scale);
    support::requireUser<poputil::poplibs_error>(
        tensor.numElements() == 1,
        "[popops::scaledAddTo] a scale has shape {}; it must have one element",
        tensor.shapeToString());
    inputs_.push_back(tensor.reshape({}));
    return apply(ElementwiseOp::MULTIPLY, value(input),
                 value(static_cast<unsigned>(inputs_.size() - 1)));
  }

  const poplar::Target &target_;
  const Call &call_;
  double tolerance_;
  std::vector<Tensor> inputs_;
  DataType type_;
  DataType computes_;
};

void emitScaledAdd(Graph &graph, const Call &call, Sequence &prog,
                   const DebugContext &debugContext,
                   const OptionFlags &options) {
  internal::checkOptions(options, optionRules);
  support::requireUser<poputil::poplibs_error>(
      call.a.shape() == call.b.shape(),
      "[popops::scaledAddTo] A has shape {} and B {}; they must be the same",
      call.a.shapeToString(), call.b.shapeToString());
  support::requireUser<poputil::poplibs_error>(
      call.a.isParallelWriteable(),
      "[popops::scaledAddTo] A cannot be written in parallel: it has constants "
      "or some elements more than once");
  poputil::internal::requireCodelets(graph, "popops",
                                     "popops::ScaledAddSupervisor");
  const auto type = poplar::internal::tensorView(call.a).type;
  const auto typeB = poplar::internal::tensorView(call.b).type;
  Formula formula(graph, call, options);
  const auto expression = formula.build();
  const auto &inputs = formula.inputs();

  const bool scalesBoth = call.keepsA || !isOne(call.scaleA);
  const bool isConstant = std::holds_alternative<float>(call.scaleB);
  const auto name =
      scalesBoth ? fmt::format("popops::aXPlusbYSupervisor<{},{},{}>",
                               support::toString(type),
                               support::toString(typeB), isConstant)
                 : fmt::format("popops::{}<{},{},{}>",
                               call.isSubtract ? "ScaledSubtractSupervisor"
                                               : "ScaledAddSupervisor",
                               support::toString(type),
                               support::toString(typeB), isConstant);
  const auto edges = static_cast<std::uint32_t>(inputs.size());
  auto operation = internal::planExpression(
      graph, expression, inputs, call.a,
      [=, subtract = call.isSubtract](const kernels::cost::TileSpec &tile,
                                      std::uint64_t n) {
        return poputil::internal::supervisorVertex(
            name,
            kernels::cost::scaledAdd(tile, type, typeB, n, subtract,
                                     scalesBoth),
            edges, 2 * n);
      });
  poputil::internal::emit(
      graph, prog, std::move(operation),
      {debugContext, call.isSubtract ? "ScaledSub" : "AddTo"});
}

bool keepsA(ScaledAddSpecialisation speciality) {
  return speciality == ScaledAddSpecialisation::X_MINUS_AX_PLUS_BY;
}

} // namespace

void scaledAddTo(Graph &graph, Tensor A, Tensor B, float scaleB, Sequence &prog,
                 const DebugContext &debugContext, const OptionFlags &options) {
  emitScaledAdd(graph, {A, B, 1.0f, scaleB}, prog, debugContext, options);
}

void scaledAddTo(Graph &graph, Tensor A, Tensor B, Tensor scaleB,
                 Sequence &prog, const DebugContext &debugContext,
                 const OptionFlags &options) {
  emitScaledAdd(graph, {A, B, 1.0f, scaleB}, prog, debugContext, options);
}

void scaledAddTo(Graph &graph, Tensor A, float scaleA, Tensor B, float scaleB,
                 Sequence &prog, const DebugContext &debugContext,
                 const OptionFlags &options) {
  emitScaledAdd(graph, {A, B, scaleA, scaleB}, prog, debugContext, options);
}

void scaledAddTo(Graph &graph, Tensor A, Tensor scaleA, Tensor B, Tensor scaleB,
                 Sequence &prog, const DebugContext &debugContext,
                 const OptionFlags &options) {
  emitScaledAdd(graph, {A, B, scaleA, scaleB}, prog, debugContext, options);
}

void scaledAddTo(Graph &graph, Tensor A, float scaleA, Tensor B, float scaleB,
                 Sequence &prog, ScaledAddSpecialisation speciality,
                 const DebugContext &debugContext, const OptionFlags &options) {
  emitScaledAdd(graph, {A, B, scaleA, scaleB, false, keepsA(speciality)}, prog,
                debugContext, options);
}

void scaledAddTo(Graph &graph, Tensor A, Tensor scaleA, Tensor B, Tensor scaleB,
                 Sequence &prog, ScaledAddSpecialisation speciality,
                 const DebugContext &debugContext, const OptionFlags &options) {
  emitScaledAdd(graph, {A, B, scaleA, scaleB, false, keepsA(speciality)}, prog,
                debugContext, options);
}

void scaledSubtractFrom(Graph &graph, Tensor A, Tensor B, float scaleB,
                        Sequence &prog, const DebugContext &debugContext,
                        const OptionFlags &options) {
  emitScaledAdd(graph, {A, B, 1.0f, scaleB, true}, prog, debugContext, options);
}

void scaledSubtractFrom(Graph &graph, Tensor A, Tensor B, Tensor scaleB,
                        Sequence &prog, const DebugContext &debugContext,
                        const OptionFlags &options) {
  emitScaledAdd(graph, {A, B, 1.0f, scaleB, true}, prog, debugContext, options);
}

void scaledSubtractFrom(Graph &graph, Tensor A, Tensor scaleA, Tensor B,
                        Tensor scaleB, Sequence &prog,
                        const DebugContext &debugContext,
                        const OptionFlags &options) {
  emitScaledAdd(graph, {A, B, scaleA, scaleB, true}, prog, debugContext,
                options);
}

void scaledSubtractFrom(Graph &graph, Tensor A, float scaleA, Tensor B,
                        float scaleB, Sequence &prog,
                        const DebugContext &debugContext,
                        const OptionFlags &options) {
  emitScaledAdd(graph, {A, B, scaleA, scaleB, true}, prog, debugContext,
                options);
}

} // namespace popops
