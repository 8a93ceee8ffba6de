// Several independent convolutions in one call. Options: planType (parallel),
// perConvReservedTiles (50), cycleBackOff (0.1); those of the convolutions go
// with each of them.
#pragma once

#include <poplin/Convolution.hpp>

#include <string>
#include <vector>

namespace poplin {
namespace multiconv {

struct CreateTensorArgs {
  ConvParams params;
  poplar::OptionFlags options;
  std::string name;
};

struct ConvolutionArgs {
  poplar::Tensor inputs;
  poplar::Tensor weights;
  ConvParams params;
  poplar::OptionFlags options;
};

struct CalculateWeightDeltasArgs {
  poplar::Tensor zDeltas;
  poplar::Tensor activations;
  ConvParams params;
  poplar::OptionFlags options;
};

template <typename ScaleType> struct ConvWeightUpdateArgs_ {
  poplar::Tensor zDeltas;
  poplar::Tensor weights;
  poplar::Tensor activations;
  ScaleType scale;
  ConvParams params;
  poplar::OptionFlags options;
};
using ConvWeightUpdateArgs = ConvWeightUpdateArgs_<poplar::Tensor>;
using ConvWeightUpdateArgsScalar = ConvWeightUpdateArgs_<float>;

// The operand of convolution `weightsIndex` or `inputIndex` of those given.
poplar::Tensor createWeights(poplar::Graph &graph,
                             const std::vector<CreateTensorArgs> &args,
                             unsigned weightsIndex,
                             const poplar::OptionFlags &options = {},
                             PlanningCache *cache = nullptr);
poplar::Tensor createInput(poplar::Graph &graph,
                           const std::vector<CreateTensorArgs> &args,
                           unsigned inputIndex,
                           const poplar::OptionFlags &options = {},
                           PlanningCache *cache = nullptr);

std::vector<poplar::Tensor>
convolution(poplar::Graph &graph, const std::vector<ConvolutionArgs> &args,
            bool transposeAndFlipWeights, poplar::program::Sequence &prog,
            const poplar::DebugContext &debugContext = {},
            const poplar::OptionFlags &options = {},
            PlanningCache *cache = nullptr);

std::vector<poplar::Tensor> calculateWeightDeltas(
    poplar::Graph &graph, const std::vector<CalculateWeightDeltasArgs> &args,
    poplar::program::Sequence &prog,
    const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {}, PlanningCache *cache = nullptr);

void convolutionWeightUpdate(poplar::Graph &graph,
                             const std::vector<ConvWeightUpdateArgs> &args,
                             poplar::program::Sequence &prog,
                             const poplar::DebugContext &debugContext = {},
                             const poplar::OptionFlags &options = {},
                             PlanningCache *cache = nullptr);
void convolutionWeightUpdate(
    poplar::Graph &graph, const std::vector<ConvWeightUpdateArgsScalar> &args,
    poplar::program::Sequence &prog,
    const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {}, PlanningCache *cache = nullptr);

// Sets each of the arguments' weights from those in `weightsIn`.
void weightsTransposeChansFlipXY(poplar::Graph &graph,
                                 std::vector<ConvolutionArgs> &args,
                                 const std::vector<poplar::Tensor> &weightsIn,
                                 poplar::program::Sequence &prog,
                                 const poplar::OptionFlags &options,
                                 const poplar::DebugContext &debugContext,
                                 PlanningCache *cache);

} // namespace multiconv
} // namespace poplin
