// The convolutions of a call are independent, so the engine overlaps them; each
// is planned for all tiles and priced after the one before.
#include <poplin/MultiConvolution.hpp>

#include <poplar/exceptions.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <fmt/core.h>

#include <cstdlib>

namespace poplin::multiconv {

using poplar::DebugContext;
using poplar::Graph;
using poplar::invalid_option;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::program::Sequence;
using poputil::poplibs_error;
using support::requireUser;

namespace {

void requireNumber(const std::string &name, const std::string &value,
                   bool isInteger) {
  char *end = nullptr;
  const double number =
      isInteger ? static_cast<double>(std::strtoll(value.c_str(), &end, 0))
                : std::strtod(value.c_str(), &end);
  requireUser<invalid_option>(
      !value.empty() && *end == '\0',
      "Invalid value '{}' for option '{}': Not a {}", value, name,
      isInteger ? "valid integer" : "floating point number");
  requireUser<invalid_option>(number >= 0,
                              "Invalid value '{}' for option '{}': Value must "
                              "be greater than or equal to 0",
                              value, name);
}

void checkOptions(const OptionFlags &options) {
  for (const auto &[name, value] : options) {
    if (name == "planType") {
      requireUser<invalid_option>(
          value == "serial" || value == "parallel",
          "Invalid value '{}' for option '{}': Not one of the values: "
          "['serial', 'parallel']",
          value, name);
    } else if (name == "perConvReservedTiles" || name == "cycleBackOff") {
      requireNumber(name, value, name == "perConvReservedTiles");
    } else {
      requireUser<invalid_option>(false, "Unrecognised option '{}'", name);
    }
  }
}

const CreateTensorArgs &argumentOf(const std::vector<CreateTensorArgs> &args,
                                   unsigned index, const OptionFlags &options) {
  checkOptions(options);
  requireUser<poplibs_error>(
      index < args.size(),
      "[poplin::multiconv] argument {} was asked for; there are {}", index,
      args.size());
  return args[index];
}

// Calls visit(argument, debug context) for each, numbered in its name.
template <typename Args, typename Visit>
void forEach(Args &args, const DebugContext &debugContext,
             const OptionFlags &options, const Visit &visit) {
  checkOptions(options);
  for (std::size_t i = 0; i < args.size(); ++i) {
    visit(args[i], DebugContext{debugContext, fmt::format("conv{}", i)});
  }
}

template <typename Args>
void updateWeights(Graph &graph, const Args &args, Sequence &prog,
                   const DebugContext &debugContext, const OptionFlags &options,
                   PlanningCache *cache) {
  forEach(args, debugContext, options,
          [&](const auto &arg, const DebugContext &name) {
            poplin::convolutionWeightUpdate(
                graph, arg.zDeltas, arg.weights, arg.activations, arg.params,
                arg.scale, prog, name, arg.options, cache);
          });
}

} // namespace

Tensor createWeights(Graph &graph, const std::vector<CreateTensorArgs> &args,
                     unsigned weightsIndex, const OptionFlags &options,
                     PlanningCache *cache) {
  const auto &arg = argumentOf(args, weightsIndex, options);
  return poplin::createWeights(graph, arg.params, {arg.name}, arg.options,
                               cache);
}

Tensor createInput(Graph &graph, const std::vector<CreateTensorArgs> &args,
                   unsigned inputIndex, const OptionFlags &options,
                   PlanningCache *cache) {
  const auto &arg = argumentOf(args, inputIndex, options);
  return poplin::createInput(graph, arg.params, {arg.name}, arg.options, cache);
}

std::vector<Tensor> convolution(Graph &graph,
                                const std::vector<ConvolutionArgs> &args,
                                bool transposeAndFlipWeights, Sequence &prog,
                                const DebugContext &debugContext,
                                const OptionFlags &options,
                                PlanningCache *cache) {
  std::vector<Tensor> results;
  forEach(args, debugContext, options,
          [&](const ConvolutionArgs &arg, const DebugContext &name) {
            results.push_back(poplin::convolution(
                graph, arg.inputs, arg.weights, arg.params,
                transposeAndFlipWeights, prog, name, arg.options, cache));
          });
  return results;
}

std::vector<Tensor>
calculateWeightDeltas(Graph &graph,
                      const std::vector<CalculateWeightDeltasArgs> &args,
                      Sequence &prog, const DebugContext &debugContext,
                      const OptionFlags &options, PlanningCache *cache) {
  std::vector<Tensor> results;
  forEach(args, debugContext, options,
          [&](const CalculateWeightDeltasArgs &arg, const DebugContext &name) {
            results.push_back(poplin::calculateWeightDeltas(
                graph, arg.zDeltas, arg.activations, arg.params, prog, name,
                arg.options, cache));
          });
  return results;
}

void convolutionWeightUpdate(Graph &graph,
                             const std::vector<ConvWeightUpdateArgs> &args,
                             Sequence &prog, const DebugContext &debugContext,
                             const OptionFlags &options, PlanningCache *cache) {
  updateWeights(graph, args, prog, debugContext, options, cache);
}

void convolutionWeightUpdate(
    Graph &graph, const std::vector<ConvWeightUpdateArgsScalar> &args,
    Sequence &prog, const DebugContext &debugContext,
    const OptionFlags &options, PlanningCache *cache) {
  updateWeights(graph, args, prog, debugContext, options, cache);
}

void weightsTransposeChansFlipXY(Graph &graph,
                                 std::vector<ConvolutionArgs> &args,
                                 const std::vector<Tensor> &weightsIn,
                                 Sequence &prog, const OptionFlags &options,
                                 const DebugContext &debugContext,
                                 PlanningCache *cache) {
  requireUser<poplibs_error>(
      args.size() == weightsIn.size(),
      "[poplin::multiconv::weightsTransposeChansFlipXY] there are {} weights "
      "for {} convolutions",
      weightsIn.size(), args.size());
  auto source = weightsIn.begin();
  forEach(args, debugContext, options,
          [&](ConvolutionArgs &arg, const DebugContext &name) {
            arg.weights = poplin::createWeights(
                graph, arg.params, {name, "weights"}, arg.options, cache);
            poplin::weightsTransposeChansFlipXY(graph, *source++, arg.weights,
                                                prog, name, arg.options);
          });
}

} // namespace poplin::multiconv
