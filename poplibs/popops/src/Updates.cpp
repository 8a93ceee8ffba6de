// Optimiser updates as whole kinds: one pass over the weights each.
#include <popops/internal/ElementwisePlan.hpp>
#include <popops/internal/Kinds.hpp>

#include <kernels/Kind.hpp>
#include <kernels/cost/Elementwise.hpp>
#include <poplar/internal/Access.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

#include <array>

namespace popops::internal {

using kernels::Attributes;
using kernels::Expression;
using poplar::Tensor;

namespace {

using Names = std::array<std::string_view, 9>;
// Enough names for any of the formulas below; they only price the update.
constexpr Names names{"w", "g", "m", "v", "r", "d", "p", "q", "e"};

std::vector<Tensor> emitUpdate(poplar::Graph &graph, std::string_view kind,
                               const Attributes &attributes,
                               const std::vector<Tensor> &inputs,
                               poplar::program::Sequence &program,
                               const poplar::DebugContext &debugContext,
                               std::span<const std::string_view> formulas) {
  const auto &weights = inputs.front();
  const auto type = poplar::internal::tensorView(weights).type;
  std::vector<Expression> expressions;
  for (const auto formula : formulas) {
    expressions.push_back(Expression::parse(formula, names));
  }
  const auto vertex = [&](const kernels::cost::TileSpec &tile,
                          std::uint64_t n) {
    kernels::cost::Cycles cycles = 0;
    for (const auto &expression : expressions) {
      cycles += kernels::cost::mapFused(tile, expression, type, n);
    }
    return poputil::internal::supervisorVertex(
        fmt::format("MapGenerated{}<{}>", kind, support::toString(type)),
        cycles, static_cast<std::uint32_t>(inputs.size()),
        2 * n * expressions.size());
  };
  // Inputs updated in place are outputs too, in the kind's order.
  std::vector<Tensor> outputs;
  for (const auto &pair : kernels::findKind(kind).inPlace) {
    if (pair.input < inputs.size()) {
      outputs.push_back(inputs[pair.input]);
    }
  }
  poputil::internal::emit(graph, program,
                          {kind,
                           attributes,
                           inputs,
                           outputs,
                           {planPass(graph, "", inputs, weights, vertex)}},
                          debugContext);
  return outputs;
}

} // namespace

std::vector<Tensor> sgdUpdate(poplar::Graph &graph,
                              const Attributes &attributes,
                              const std::vector<Tensor> &inputs,
                              poplar::program::Sequence &program,
                              const poplar::DebugContext &debugContext,
                              const poplar::OptionFlags &) {
  constexpr std::string_view plain[] = {"w-r*(g+d*w)"};
  constexpr std::string_view withMomentum[] = {"p*v+q*(g+d*w)", "w-r*v"};
  std::span<const std::string_view> formulas = plain;
  if (attributes.getInt("momentum") != 0) {
    formulas = withMomentum;
  }
  return emitUpdate(graph, "sgdUpdate", attributes, inputs, program,
                    debugContext, formulas);
}

std::vector<Tensor> adamUpdate(poplar::Graph &graph,
                               const Attributes &attributes,
                               const std::vector<Tensor> &inputs,
                               poplar::program::Sequence &program,
                               const poplar::DebugContext &debugContext,
                               const poplar::OptionFlags &) {
  constexpr std::string_view formulas[] = {"p*m+(1-p)*g", "q*v+(1-q)*g*g",
                                           "w-r*(m/(sqrt(v)+e)+d*w)"};
  return emitUpdate(graph, "adamUpdate", attributes, inputs, program,
                    debugContext, formulas);
}

std::vector<Tensor> rmspropUpdate(poplar::Graph &graph,
                                  const Attributes &attributes,
                                  const std::vector<Tensor> &inputs,
                                  poplar::program::Sequence &program,
                                  const poplar::DebugContext &debugContext,
                                  const poplar::OptionFlags &) {
  constexpr std::string_view formulas[] = {"q*v+(1-q)*g*g",
                                           "w-r*g/(sqrt(v)+e)"};
  return emitUpdate(graph, "rmspropUpdate", attributes, inputs, program,
                    debugContext, formulas);
}

} // namespace popops::internal
