// What plans have in common: asking for plain layouts, and saying which bytes a
// task touches.
#pragma once

#include <kernels/KernelEntry.hpp>

#include <optional>
#include <vector>

namespace kernels {

// Every operand plain, for any call.
std::optional<std::vector<Layout>> allPlain(const Signature &signature);

// Whether every operand is plain and row-major; whether every one is FLOAT.
bool isAllRowMajor(const Signature &signature);
bool isAllFloat(const Signature &signature);

// Elements [begin, end) of an operand that is contiguous.
Access elementAccess(const Signature &signature, std::size_t operand,
                     std::int64_t begin, std::int64_t end);

// All of an operand, whatever its strides.
Access wholeAccess(const Signature &signature, std::size_t operand);

// Rows [begin, end) along the first dimension of a row-major operand.
Access rowAccess(const Signature &signature, std::size_t operand,
                 std::int64_t begin, std::int64_t end);

// `bytes` rounded up so that what follows starts on a cache line.
constexpr std::size_t lineAligned(std::size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

// The data of operand `index` as elements of type T.
template <typename T> T *dataOf(std::byte *const *operands, std::size_t index) {
  return reinterpret_cast<T *>(operands[index]);
}

} // namespace kernels
