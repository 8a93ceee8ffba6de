// Convolutions with any transforms as views of their operands and one of the
// kinds, which know padding, stride and the dilation of kernels.
#pragma once

#include <poplin/ConvParams.hpp>

#include <kernels/Attributes.hpp>
#include <poplar/DebugContext.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <vector>

namespace poplin::internal {

struct ConvForm {
  // `turnsWeights`: the weights given are those of the forward pass, whose
  // channels are exchanged and whose kernel is turned round.
  ConvForm(const ConvParams &original, bool turnsWeights);

  // Canonical, with at least two field dimensions. Dilation of the input is
  // gone where the input itself is to be dilated.
  ConvParams params;
  unsigned fieldDims; // of the original
  // No element of the input meets one of the kernel: the result is zeros.
  bool isZero;
  bool turnsWeights;
  // A convolution of stride 1 over an input with zeros between its elements is
  // the gradient by data of a strided one, whose kind needs neither the zeros
  // nor weights that were turned round.
  bool isGradient;
  // Where there is a stride as well the zeros are put in, so many apart.
  std::vector<unsigned> inputDilation;

  std::size_t outputSize(unsigned dim) const; // without padding
};

// Of kind "convolution", and of the forward convolution whose gradient by data
// the convolution is.
kernels::Attributes forwardAttributes(const ConvForm &form);
kernels::Attributes gradientAttributes(const ConvForm &form);

// Emits the views and copies that lead to and from the operands of the kinds.
struct ConvTensors {
  poplar::Graph &graph;
  const ConvForm &form;
  poplar::program::Sequence &prog;
  const poplar::DebugContext &debugContext;

  // [batch, inChans, field...] as the kinds want it.
  poplar::Tensor input(const poplar::Tensor &in) const;
  // [groups, outChans, inChans, kernel...] as the kinds want it, groups and
  // channels in one dimension.
  poplar::Tensor kernel(poplar::Tensor weights) const;
  // The way back, for gradients of weights.
  poplar::Tensor weights(poplar::Tensor kernel) const;
  // Without the padding of outputs; with it.
  poplar::Tensor withoutPadding(poplar::Tensor out) const;
  poplar::Tensor withPadding(poplar::Tensor out) const;

  // A variable of zeros beside `like`.
  poplar::Tensor zeros(const poplar::Type &type,
                       const std::vector<std::size_t> &shape,
                       const poplar::Tensor &like) const;

private:
  poplar::Tensor arranged(const poplar::Tensor &view) const;
  poplar::Tensor constantZeros(const poplar::Tensor &like, unsigned dim,
                               std::size_t size) const;
  poplar::Tensor padded(const poplar::Tensor &tensor, unsigned dim,
                        std::size_t lower, std::size_t upper) const;
};

} // namespace poplin::internal
