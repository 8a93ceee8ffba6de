#include <poputil/Broadcast.hpp>

#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>

namespace poputil {

using poplar::Tensor;

namespace {

using Shape = std::vector<std::size_t>;

std::size_t extentFromRight(const Shape &shape, std::size_t fromRight) {
  return fromRight < shape.size() ? shape[shape.size() - 1 - fromRight] : 1;
}

// The shape that both broadcast to, or false.
bool commonShape(const Shape &a, const Shape &b, Shape &result,
                 std::size_t &mismatch) {
  const auto rank = std::max(a.size(), b.size());
  result.assign(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    const auto extentA = extentFromRight(a, i);
    const auto extentB = extentFromRight(b, i);
    mismatch = rank - 1 - i;
    if (extentA != extentB && extentA != 1 && extentB != 1) {
      return false;
    }
    result[mismatch] = extentA == 1 ? extentB : extentA;
  }
  return true;
}

Shape requireCommonShape(const Shape &a, const Shape &b) {
  Shape result;
  std::size_t mismatch = 0;
  support::requireUser<poplibs_error>(
      commonShape(a, b, result, mismatch),
      "Cannot broadcast tensors to match dimension {}", mismatch);
  return result;
}

void expandToRank(Tensor &tensor, std::size_t rank) {
  if (tensor.rank() < rank) {
    auto shape = tensor.shape();
    shape.insert(shape.begin(), rank - shape.size(), 1);
    tensor = tensor.reshape(shape);
  }
}

} // namespace

void expandToMatchRanks(Tensor &a, Tensor &b) {
  expandToRank(a, b.rank());
  expandToRank(b, a.rank());
}

void broadcastToMatch(Tensor &a, const Shape &shape) {
  support::requireUser<poplibs_error>(
      a.rank() <= shape.size(),
      "Cannot broadcast a tensor of rank {} to match a shape of rank {}",
      a.rank(), shape.size());
  expandToRank(a, shape.size());
  for (unsigned d = 0; d < shape.size(); ++d) {
    if (a.dim(d) == shape[d]) {
      continue;
    }
    support::requireUser<poplibs_error>(
        a.dim(d) == 1, "Cannot broadcast tensors to match dimension {}", d);
    a = a.broadcast(static_cast<unsigned>(shape[d]), d);
  }
}

void broadcastToMatch(Tensor &a, Tensor &b) {
  const auto shape = requireCommonShape(a.shape(), b.shape());
  broadcastToMatch(a, shape);
  broadcastToMatch(b, shape);
}

void broadcastToMatch(Tensor &a, Tensor &b, Tensor &c) {
  const auto shape =
      requireCommonShape(requireCommonShape(a.shape(), b.shape()), c.shape());
  broadcastToMatch(a, shape);
  broadcastToMatch(b, shape);
  broadcastToMatch(c, shape);
}

bool canBroadcastToMatch(const Tensor &a, const Tensor &b) {
  Shape result;
  std::size_t mismatch = 0;
  return commonShape(a.shape(), b.shape(), result, mismatch);
}

} // namespace poputil
