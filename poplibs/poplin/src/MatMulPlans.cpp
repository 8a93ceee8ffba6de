// Matrix products before they are built: options, reports of plans, and the
// convolutions that they are planned as.
#include <poplin/Convolution.hpp>
#include <poplin/MatMul.hpp>

#include "ConvReport.hpp"
#include "MatMulShapes.hpp"

#include <poplin/ConvPreplan.hpp>
#include <poplin/internal/ConvOptions.hpp>

namespace poplin {

using internal::checkMatMulShapes;
using internal::MatMulForm;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Type;

namespace {

using Shape = std::vector<std::size_t>;

internal::ConvPlan planned(MatMulForm form, const Graph &graph,
                           const MatMulParams &params, const OptionFlags &flags,
                           PlanningCache *cache) {
  checkMatMulShapes(form, params.aShape, params.bShape);
  const auto options = internal::parseMatMulOptions(flags);
  const auto tiles = graph.getTarget().getTilesPerIPU();
  return internal::cachedPlan(
      cache,
      internal::matMulProblem(params.inputType, params.outputType,
                              params.aShape, params.bShape, options),
      internal::planLimits(graph, {0, tiles}, options), true);
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
                      const OptionFlags &options, PlanningCache *cache) {
  internal::printPlan(out, planned(MatMulForm::Single, graph,
                                   {inputType, outputType, aShape, bShape},
                                   options, cache));
}

void matMulGroupedReportPlan(std::ostream &out, const Graph &graph,
                             const Type &inputType, const Type &outputType,
                             const Shape &aShape, const Shape &bShape,
                             const OptionFlags &options, PlanningCache *cache) {
  internal::printPlan(out, planned(MatMulForm::Grouped, graph,
                                   {inputType, outputType, aShape, bShape},
                                   options, cache));
}

void matmulValidateOptions(const OptionFlags &options) {
  internal::parseMatMulOptions(options);
}

void preplanMatMuls(const std::set<MatMulPlanParams> &matmuls,
                    matmul::PlanningCache &cache) {
  preplan({}, matmuls, cache);
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
  for (const auto &[target, params, options] : matmuls) {
    planned(formOf(params), Graph(*target), params,
            options != nullptr ? *options : OptionFlags(), &cache);
  }
}

} // namespace poplin
