#include "DnnlConvolution.hpp"

#include "PlanHelpers.hpp"

#include <algorithm>
#include <utility>

namespace kernels {

namespace {

dnnl::primitive_attr withUserScratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

// Winograd's method is our own: oneDNN's takes megabytes of scratch per call.
constexpr auto direct = dnnl::algorithm::convolution_direct;

} // namespace

double convolutionWork(const ConvolutionShape &s) {
  return static_cast<double>(s.products()) * 0.033;
}

bool isStridedPoint(const ConvolutionShape &s) {
  return support::elementCount(s.kernel) == 1 &&
         support::elementCount(s.strides) > 1;
}

DnnlShape::DnnlShape(const ConvolutionShape &s)
    : x(s.inputShape()), w(s.weightShape()),
      y(s.outputShape()), bias{s.outChannels}, strides(s.strides),
      dilations(s.dilations), padLower(s.padLower), padUpper(s.padUpper) {
  for (auto &dilation : dilations) {
    --dilation; // oneDNN counts the zeros between elements
  }
  if (s.groups > 1) {
    w[0] = s.outChannelsPerGroup();
    w.insert(w.begin(), s.groups);
  }
}

dnnl::convolution_forward::primitive_desc
DnnlShape::forward(bool hasBias, bool hasRelu) const {
  auto attributes = withUserScratchpad();
  if (hasRelu) {
    dnnl::post_ops postOps;
    postOps.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
    attributes.set_post_ops(postOps);
  }
  const auto kind = dnnl::prop_kind::forward_training;
  using Desc = dnnl::convolution_forward::desc;
  const auto desc =
      hasBias
          ? Desc(kind, direct, dnnlAny(x), dnnlAny(w), dnnlStrided(bias, {1}),
                 dnnlAny(y), strides, dilations, padLower, padUpper)
          : Desc(kind, direct, dnnlAny(x), dnnlAny(w), dnnlAny(y), strides,
                 dilations, padLower, padUpper);
  return {desc, attributes, dnnlEngine()};
}

dnnl::convolution_backward_data::primitive_desc DnnlShape::dataGrad() const {
  return {dnnl::convolution_backward_data::desc(direct, dnnlAny(x), dnnlAny(w),
                                                dnnlAny(y), strides, dilations,
                                                padLower, padUpper),
          withUserScratchpad(), dnnlEngine(), forward(false, false)};
}

dnnl::convolution_backward_weights::primitive_desc
DnnlShape::weightGrad() const {
  return {dnnl::convolution_backward_weights::desc(
              direct, dnnlAny(x), dnnlAny(w), dnnlAny(y), strides, dilations,
              padLower, padUpper),
          withUserScratchpad(), dnnlEngine(), forward(false, false)};
}

std::size_t Pieces::take(std::size_t bytes) {
  const std::size_t at = bytes_;
  bytes_ += lineAligned(bytes);
  return at;
}

Passage::Passage(const dnnl::memory::desc &outside,
                 const dnnl::memory::desc &inside, bool isInput,
                 Pieces &pieces) {
  if (outside != inside) {
    at_ = pieces.take(inside.get_size());
    copy_.push_back(isInput ? DnnlOperation::reorder(outside, inside)
                            : DnnlOperation::reorder(inside, outside));
  }
}

void *Passage::inside(void *outside, std::byte *memory) const {
  return copy_.empty() ? outside : memory + at_;
}

void Passage::enter(void *outside, std::byte *memory) const {
  if (!copy_.empty()) {
    copy_[0].run({outside, memory + at_});
  }
}

void Passage::leave(void *outside, std::byte *memory) const {
  if (!copy_.empty()) {
    copy_[0].run({memory + at_, outside});
  }
}

namespace {

// Whether oneDNN can describe the operand: of two dimensions, the one with the
// larger stride steps over all of the other. Slices with steps may not have it;
// a dimension of one element has no steps, whatever its stride.
bool isNested(const OperandSpec &spec) {
  std::vector<std::pair<std::int64_t, std::int64_t>> dimensions;
  for (std::size_t d = 0; d < spec.shape.size(); ++d) {
    if (spec.shape[d] != 1) {
      dimensions.emplace_back(spec.strides[d], spec.shape[d]);
    }
  }
  std::sort(dimensions.begin(), dimensions.end());
  std::int64_t least = 1;
  for (const auto &[stride, size] : dimensions) {
    if (stride < least) {
      return false;
    }
    least = stride * size;
  }
  return true;
}

} // namespace

bool isForDnnl(const Signature &signature) {
  constexpr std::size_t maxRank = 5; // three field dimensions
  if (signature.inputs[0].shape.size() > maxRank) {
    return false;
  }
  for (std::size_t i = 0; i < signature.operandCount(); ++i) {
    const auto &spec = signature.operand(i);
    if (spec.type != DataType::Float ||
        support::elementCount(spec.shape) == 0 ||
        !std::all_of(spec.strides.begin(), spec.strides.end(),
                     [](std::int64_t stride) { return stride > 0; }) ||
        !isNested(spec)) {
      return false;
    }
  }
  return true;
}

} // namespace kernels
