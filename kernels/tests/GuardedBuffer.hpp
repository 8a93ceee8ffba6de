// The memory of one operand in a test: strided or in lanes, with guards around
// it, filled with NaNs until it is written.
#pragma once

#include <kernels/Signature.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernels::testing {

// As floats and halves these bytes are NaNs.
inline constexpr auto poison = std::byte{0xff};

// The offset of element `index` (row-major) of an operand.
std::int64_t offsetOf(const OperandSpec &spec, std::int64_t index);

void storeElement(DataType type, std::byte *to, double value);
double loadElement(DataType type, const std::byte *from);

// Aligned as the engine aligns values.
class GuardedBuffer {
public:
  explicit GuardedBuffer(const OperandSpec &spec);
  // Copies keep their own alignment, so data is moved by hand.
  GuardedBuffer(const GuardedBuffer &other);

  std::byte *lowest();
  const std::byte *lowest() const {
    return const_cast<GuardedBuffer *>(this)->lowest();
  }
  std::byte *element0() { return lowest() + first_; }
  std::size_t bytes() const { return bytes_; }
  bool isGuardIntact() const;

private:
  std::int64_t first_ = 0; // of element 0 from the lowest
  std::size_t bytes_ = 0;
  std::vector<std::byte> memory_;
};

} // namespace kernels::testing
