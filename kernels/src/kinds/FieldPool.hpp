// The geometry of a pooling over any number of field dimensions, read from the
// attributes. Negative padding truncates the field.
#pragma once

#include <kernels/Signature.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace kernels {

enum class PoolOp : std::uint8_t { Max, Average, Sum };

struct FieldPool {
  struct Dimension {
    std::int64_t in, out, kernel, stride, padLower;

    // Output positions [begin, end) whose window element `k` is inside.
    struct Range {
      std::int64_t begin, end;
    };
    Range outputsInside(std::int64_t k) const;
    // Elements of the window of output `o` that are inside the field.
    std::int64_t elementsInside(std::int64_t o) const;
    std::int64_t inputOf(std::int64_t o, std::int64_t k) const {
      return o * stride + k - padLower;
    }
    bool isInside(std::int64_t i) const { return i >= 0 && i < in; }
  };

  PoolOp op = PoolOp::Max;
  std::int64_t batch = 0;
  std::int64_t channels = 0;
  std::vector<Dimension> dims;

  std::int64_t planes() const { return batch * channels; }
  std::int64_t planeInputs() const;
  std::int64_t planeOutputs() const;
  Shape outputShape() const;
  Shape kernelShape() const;
};

// `x` is [N, C, field...]. Throws std::invalid_argument for parameters that
// make no sense.
FieldPool fieldPool(std::string_view kind, const Attributes &attributes,
                    const Shape &x);

} // namespace kernels
