// Matrix products before they are built: options, reports of plans, and the
// convolutions that they are planned as.
#include <poplin/Convolution.hpp>
#include <poplin/MatMul.hpp>

#include "MatMulShapes.hpp"

#include <poplin/ConvPreplan.hpp>
#include <poplin/internal/ConvOptions.hpp>

#include <poplar/internal/Access.hpp>

#include <ostream>

namespace poplin {

using internal::checkMatMulShapes;
using internal::MatMulForm;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Type;

namespace {

using Shape = std::vector<std::size_t>;

void reportPlan(MatMulForm form, std::ostream &out, const Graph &graph,
                const Type &inputType, const Type &outputType, const Shape &a,
                const Shape &b, const OptionFlags &flags) {
  checkMatMulShapes(form, a, b);
  const auto options = internal::parseMatMulOptions(flags);
  internal::ConvProblem problem;
  problem.inputType = poplar::internal::toDataType(inputType);
  problem.outputType = poplar::internal::toDataType(outputType);
  problem.partialsType = internal::partialsType(options, problem.outputType);
  problem.groups = form == MatMulForm::Grouped ? a[0] : 1;
  problem.inField = problem.outField = {1, a[a.size() - 2]};
  problem.inChans = a.back();
  problem.outChans = b.back();
  const auto plan = internal::planMatMul(
      problem, internal::planLimits(
                   graph, {0, graph.getTarget().getTilesPerIPU()}, options));
  const auto &cost = plan.cost;
  out << "  Splits: groups=" << plan.split.groups
      << " rows=" << plan.split.columns << " outChans=" << plan.split.outChans
      << " inChans=" << plan.split.inChans
      << " serialOutChans=" << plan.split.serialOutChans
      << (plan.swapsOperands ? " (operands swapped)" : "") << '\n'
      << "  Tiles: " << plan.split.tiles() << '\n'
      << "  Cycles: " << plan.totalCycles() << " (exchange "
      << cost.exchangeInput + cost.exchangeWeights + cost.exchangePartials
      << ", compute " << cost.compute << ", reduce " << cost.reduce << ")\n"
      << "  Temporary bytes per tile: " << cost.tempBytes << '\n';
}

MatMulForm formOf(const MatMulParams &params) {
  return params.aShape.size() == 3 ? MatMulForm::Grouped : MatMulForm::Single;
}

OptionFlags toConvOptions(const OptionFlags &matMulOptions) {
  OptionFlags options;
  for (const auto &[name, value] : matMulOptions) {
    if (name == "fullyConnectedPass") {
      options.set("pass", value == "NONE" ? value : "FC_" + value);
    } else if (name == "gatherOutput") {
      options.set("gatherConvOutput", value);
    } else if (name != "inputRHSIsPreArranged") {
      options.set(name, value);
    }
  }
  return options;
}

} // namespace

void matMulReportPlan(std::ostream &out, const Graph &graph,
                      const Type &inputType, const Type &outputType,
                      const Shape &aShape, const Shape &bShape,
                      const OptionFlags &options, PlanningCache *) {
  reportPlan(MatMulForm::Single, out, graph, inputType, outputType, aShape,
             bShape, options);
}

void matMulGroupedReportPlan(std::ostream &out, const Graph &graph,
                             const Type &inputType, const Type &outputType,
                             const Shape &aShape, const Shape &bShape,
                             const OptionFlags &options, PlanningCache *) {
  reportPlan(MatMulForm::Grouped, out, graph, inputType, outputType, aShape,
             bShape, options);
}

void matmulValidateOptions(const OptionFlags &options) {
  internal::parseMatMulOptions(options);
}

void preplanMatMuls(const std::set<MatMulPlanParams> &matmuls,
                    matmul::PlanningCache &cache) {
  MatMulToConvOptions options;
  preplanConvolutions(matMulGetConvPlanParams(matmuls, options), cache);
}

std::set<ConvPlanParams>
matMulGetConvPlanParams(const std::set<MatMulPlanParams> &matmuls,
                        MatMulToConvOptions &convOptions) {
  std::set<ConvPlanParams> convs;
  for (const auto &[target, params, options] : matmuls) {
    const auto &a = params.aShape;
    const auto &b = params.bShape;
    checkMatMulShapes(formOf(params), a, b);
    const OptionFlags *convFlags = nullptr;
    if (options != nullptr) {
      matmulValidateOptions(*options);
      convFlags =
          &convOptions.emplace(options, toConvOptions(*options)).first->second;
    }
    const std::size_t groups = a.size() == 3 ? a[0] : 1;
    convs.emplace(target,
                  ConvParams(params.inputType, params.outputType, 1,
                             {a[a.size() - 2]}, {1}, a.back(), b.back(),
                             groups),
                  convFlags);
  }
  return convs;
}

void preplan(const std::set<ConvPlanParams> &convs,
             const std::set<MatMulPlanParams> &matmuls, PlanningCache &cache) {
  preplanConvolutions(convs, cache);
  MatMulToConvOptions options;
  preplanConvolutions(matMulGetConvPlanParams(matmuls, options), cache);
}

} // namespace poplin
