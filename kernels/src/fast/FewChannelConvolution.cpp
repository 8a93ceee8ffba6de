#include "FewChannelConvolution.hpp"

#include "ConvolutionSignature.hpp"
#include "KeptConvolution.hpp"
#include "PlanHelpers.hpp"
#include "loops/Loops.hpp"

#include <algorithm>

namespace kernels {

namespace {

constexpr std::int64_t lanes = 16;

// An image with the zeros around it that windows reach into.
struct PaddedImage {
  std::int64_t channels;
  Shape in, before; // of the field
  Shape field;      // with zeros

  explicit PaddedImage(const ConvolutionShape &s)
      : channels(s.inChannels), in(s.in), before(s.padLower), field(s.in) {
    for (std::size_t d = 0; d < field.size(); ++d) {
      field[d] += s.padLower[d] + s.padUpper[d];
    }
  }

  bool hasZeros() const { return field != in; }
  std::int64_t floats() const {
    return channels * support::elementCount(field);
  }
  std::int64_t place(std::int64_t channel, std::int64_t row,
                     std::int64_t column) const {
    return (channel * field[0] + row) * field[1] + column;
  }
  void fill(const float *image, float *to) const {
    std::fill_n(to, floats(), 0.0f);
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      for (std::int64_t row = 0; row < in[0]; ++row) {
        std::copy_n(image + (channel * in[0] + row) * in[1], in[1],
                    to + place(channel, before[0] + row, before[1]));
      }
    }
  }
};

std::vector<std::int32_t> windowsOf(const PaddedImage &image,
                                    const ConvolutionShape &s) {
  std::vector<std::int32_t> windows;
  for (std::int64_t row = 0; row < s.out[0]; ++row) {
    for (std::int64_t column = 0; column < s.out[1]; ++column) {
      windows.push_back(static_cast<std::int32_t>(
          image.place(0, row * s.strides[0], column * s.strides[1])));
    }
  }
  return windows;
}

// In the order of the weights.
std::vector<std::int32_t> placesOf(const PaddedImage &image,
                                   const ConvolutionShape &s) {
  std::vector<std::int32_t> places;
  for (std::int64_t row = 0; row < s.kernel[0]; ++row) {
    for (std::int64_t column = 0; column < s.kernel[1]; ++column) {
      for (std::int64_t channel = 0; channel < s.inChannels; ++channel) {
        places.push_back(static_cast<std::int32_t>(image.place(
            channel, row * s.dilations[0], column * s.dilations[1])));
      }
    }
  }
  return places;
}

class FewChannelPlan final : public Plan {
public:
  FewChannelPlan(const Signature &signature, const ConvolutionShape &s)
      : image_(s), windows_(windowsOf(image_, s)), places_(placesOf(image_, s)),
        field_{static_cast<std::int64_t>(windows_.size()), windows_.data(),
               static_cast<std::int64_t>(places_.size()), places_.data()},
        hasBias_(signature.inputs.size() == 3),
        hasRelu_(signature.attributes.getString("activation") == "RELU"),
        imageFloats_(s.inChannels * support::elementCount(s.in)),
        panels_(s.outChannels / lanes) {
    constexpr double nanosecondsPerProduct = 0.024;
    const double work =
        nanosecondsPerProduct * static_cast<double>(s.products());
    const std::int64_t units = s.batch * panels_;
    const std::int64_t count = shardCount(units, work);
    for (std::int64_t i = 0; i < count; ++i) {
      units_.push_back(shardRange(units, count, i));
      addTask(signature, units_.back(), work / static_cast<double>(count));
    }
    if (image_.hasZeros()) {
      workspaceBytes_ =
          static_cast<std::size_t>(image_.floats()) * sizeof(float);
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    const ShardRange &units = units_[task];
    for (std::int64_t unit = units.begin; unit < units.end; ++unit) {
      const float *image =
          dataOf<const float>(operands, 0) + unit / panels_ * imageFloats_;
      if (image_.hasZeros()) {
        auto *const padded = reinterpret_cast<float *>(memory.workspace);
        if (unit == units.begin || unit % panels_ == 0) {
          image_.fill(image, padded);
        }
        image = padded;
      }
      const std::int64_t panel = unit % panels_;
      selectedLoops().fewChannelConvolution.multiply(
          field_,
          {image,
           dataOf<const float>(operands, 1) + panel * field_.products * lanes,
           hasBias_ ? dataOf<const float>(operands, 2) + panel * lanes
                    : nullptr,
           dataOf<float>(operands, outputIndex()) +
               unit * field_.pixels * lanes,
           hasRelu_});
    }
  }

private:
  std::size_t outputIndex() const { return hasBias_ ? 3 : 2; }

  // A unit is sixteen channels of the result for one image.
  void addTask(const Signature &signature, ShardRange units, double cost) {
    const std::int64_t lastImage = (units.end - 1) / panels_;
    const std::int64_t plane = field_.pixels * lanes;
    Task task{0,
              cost,
              {elementAccess(signature, 0, units.begin / panels_ * imageFloats_,
                             (lastImage + 1) * imageFloats_),
               wholeAccess(signature, 1),
               elementAccess(signature, outputIndex(), units.begin * plane,
                             units.end * plane)}};
    if (hasBias_) {
      task.accesses.push_back(wholeAccess(signature, 2));
    }
    tasks_.push_back(std::move(task));
  }

  PaddedImage image_;
  std::vector<std::int32_t> windows_, places_;
  FewChannelConvolutionLoops::Field field_;
  bool hasBias_, hasRelu_;
  std::int64_t imageFloats_, panels_;
  std::vector<ShardRange> units_;
};

// Few enough to be read from a core's first-level cache again and again.
bool isForSize(const ConvolutionShape &s) {
  constexpr std::int64_t fewChannels = 4;
  constexpr std::int64_t cachedFloats = 8 << 10;
  return s.inChannels <= fewChannels && s.products() > 0 &&
         PaddedImage(s).floats() <= cachedFloats;
}

std::optional<std::vector<Layout>> layouts(const Signature &signature) {
  const OperandSpec &image = signature.inputs[0];
  if (image.found != Layout::Plain || !image.isRowMajor() ||
      hasWideRegisters() || !isKeptConvolution(signature) ||
      !isForSize(forwardShape(signature))) {
    return std::nullopt;
  }
  return keptConvolutionLayouts(signature, Layout::Plain);
}

std::unique_ptr<Plan> plan(const Signature &signature) {
  return std::make_unique<FewChannelPlan>(signature, forwardShape(signature));
}

} // namespace

constexpr KernelEntry fewChannelConvolution{"few channels", layouts, plan};

} // namespace kernels
