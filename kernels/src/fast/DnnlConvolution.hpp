// What direct convolutions through oneDNN have in common: descriptors, and the
// way of operands between the layouts they have and those that oneDNN wants.
#pragma once

#include "Dnnl.hpp"

#include "kinds/ConvolutionShape.hpp"

#include <kernels/KernelEntry.hpp>

namespace kernels {

// Nanoseconds of the whole convolution on one core at 60 GFLOP/s.
double convolutionWork(const ConvolutionShape &shape);

// Whether the kernel is one pixel with a stride: oneDNN first gathers the
// pixels that it reads.
bool isStridedPoint(const ConvolutionShape &shape);

// The parameters that all three directions share.
struct DnnlShape {
  using Dims = dnnl::memory::dims;
  Dims x, w, y, bias;
  Dims strides, dilations, padLower, padUpper;

  explicit DnnlShape(const ConvolutionShape &shape);

  dnnl::convolution_forward::primitive_desc forward(bool hasBias,
                                                    bool hasRelu) const;
  dnnl::convolution_backward_data::primitive_desc dataGrad() const;
  dnnl::convolution_backward_weights::primitive_desc weightGrad() const;
};

// Hands out pieces of a memory that is yet to be given.
class Pieces {
public:
  std::size_t take(std::size_t bytes);
  std::size_t bytes() const { return bytes_; }

private:
  std::size_t bytes_ = 0;
};

// An operand on its way into or out of a primitive: used where it is when its
// layout is the one wanted, else copied through a piece of memory.
class Passage {
public:
  Passage(const dnnl::memory::desc &outside, const dnnl::memory::desc &inside,
          bool isInput, Pieces &pieces);

  bool isCopied() const { return !copy_.empty(); }
  void *inside(void *outside, std::byte *memory) const;
  void enter(void *outside, std::byte *memory) const;
  void leave(void *outside, std::byte *memory) const;

private:
  std::size_t at_ = 0;
  std::vector<DnnlOperation> copy_; // none or one
};

// Whether all operands are floats with positive strides and at most three field
// dimensions; oneDNN has no place for others.
bool isForDnnl(const Signature &signature);

} // namespace kernels
