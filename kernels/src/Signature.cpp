#include <kernels/Signature.hpp>

#include <support/Error.hpp>

namespace kernels {

std::int64_t storageElements(Layout layout,
                             std::span<const std::int64_t> shape) {
  switch (layout) {
  case Layout::Plain:
    return support::elementCount(shape);
  case Layout::BatchLanes16:
    support::requireInternal(shape.size() == 4,
                             "layout BatchLanes16 wants rank 4, given shape {}",
                             support::toString(shape));
    return (shape[0] + 15) / 16 * 16 * support::elementCount(shape.subspan(1));
  }
  return 0;
}

} // namespace kernels
