// Shapes by NumPy's rules, as custom operators compute with them.
#include <popart/tensorinfo.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>
#include <support/Shape.hpp>

#include <algorithm>

namespace popart {
namespace {

// The size of a dimension, counted from the last.
std::int64_t fromBack(const Shape &shape, std::size_t i) {
  return i < shape.size() ? shape[shape.size() - 1 - i] : 1;
}

std::string prefixOf(const std::string &name) {
  return name.empty() ? "" : "[" + name + "] ";
}

} // namespace

bool npBroadcastable(const Shape &a, const Shape &b) {
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    std::int64_t x = fromBack(a, i);
    std::int64_t y = fromBack(b, i);
    if (x != y && x != 1 && y != 1) {
      return false;
    }
  }
  return true;
}

Shape npOut(const Shape &a, const Shape &b, const std::string &name) {
  support::requireUser<error>(
      npBroadcastable(a, b), "{}shapes {} and {} do not broadcast",
      prefixOf(name), support::toString(a), support::toString(b));
  Shape result(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::int64_t x = fromBack(a, i);
    result[result.size() - 1 - i] = x == 1 ? fromBack(b, i) : x;
  }
  return result;
}

TensorInfo npOut(const TensorInfo &a, const TensorInfo &b,
                 const std::string &name, bool checkDataType) {
  support::requireUser<error>(!checkDataType || a.dataType() == b.dataType(),
                              "{}types {} and {} differ", prefixOf(name),
                              a.data_type(), b.data_type());
  return TensorInfo(a.dataType(), npOut(a.shape(), b.shape(), name));
}

std::vector<std::int64_t> npReductionAxis(const Shape &in, const Shape &out) {
  std::vector<std::int64_t> axes;
  for (std::size_t d = 0; d < out.size(); ++d) {
    std::size_t i = out.size() - 1 - d;
    if (i >= in.size() || (fromBack(in, i) == 1 && out[d] != 1)) {
      axes.push_back(static_cast<std::int64_t>(d));
    }
  }
  return axes;
}

Shape squeeze(const Shape &shape) {
  Shape result;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(result),
               [](std::int64_t dim) { return dim != 1; });
  return result;
}

Shape squeeze(const Shape &shape, const std::vector<std::int64_t> &axes) {
  Shape result;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    bool goes =
        std::count(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) > 0;
    support::requireUser<error>(!goes || shape[d] == 1,
                                "dimension {} of {} is not of size 1", d,
                                support::toString(shape));
    if (!goes) {
      result.push_back(shape[d]);
    }
  }
  return result;
}

Shape unsqueeze(const Shape &shape, const std::vector<std::int64_t> &axes) {
  support::requireUser<error>(std::is_sorted(axes.begin(), axes.end()),
                              "axes {} are not in order",
                              support::toString(axes));
  Shape result = shape;
  for (std::int64_t axis : axes) {
    support::requireUser<error>(0 <= axis && axis <= std::ssize(result),
                                "axis {} is outside a tensor of rank {}", axis,
                                result.size() + 1);
    result.insert(result.begin() + axis, 1);
  }
  return result;
}

} // namespace popart
