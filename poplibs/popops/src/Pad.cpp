#include <popops/Pad.hpp>

#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <functional>

namespace popops {

using poplar::Graph;
using poplar::Tensor;
using poputil::poplibs_error;
using support::requireUser;
using Amounts = std::vector<std::ptrdiff_t>;

namespace {

// What lies beyond one end of a dimension: `count` elements next to `t`.
enum class End { Lower, Upper };
using MakePadding = std::function<Tensor(const Tensor &t, unsigned dim,
                                         std::size_t count, End end)>;

Tensor padDimension(const Tensor &t, std::ptrdiff_t lower, std::ptrdiff_t upper,
                    unsigned dim, const MakePadding &make) {
  requireUser<poplibs_error>(
      dim < t.rank(), "[popops::pad] dimension {} is not one of shape {}", dim,
      t.shapeToString());
  const auto extent = static_cast<std::ptrdiff_t>(t.dim(dim));
  const auto begin = std::max<std::ptrdiff_t>(0, -lower);
  const auto end = extent - std::max<std::ptrdiff_t>(0, -upper);
  requireUser<poplibs_error>(
      begin <= end,
      "[popops::pad] {} and {} elements cannot be taken from dimension {} of "
      "shape {}",
      begin, extent - end, dim, t.shapeToString());
  const auto kept = t.slice(static_cast<std::size_t>(begin),
                            static_cast<std::size_t>(end), dim);
  std::vector<Tensor> parts;
  if (lower > 0) {
    parts.push_back(
        make(kept, dim, static_cast<std::size_t>(lower), End::Lower));
  }
  parts.push_back(kept);
  if (upper > 0) {
    parts.push_back(
        make(kept, dim, static_cast<std::size_t>(upper), End::Upper));
  }
  return concat(parts, dim);
}

Tensor padAll(Tensor t, const Amounts &lower, const Amounts &upper,
              const MakePadding &make) {
  requireUser<poplibs_error>(
      lower.size() == t.rank() && upper.size() == t.rank(),
      "[popops::pad] {} and {} amounts for shape {}; each dimension needs one",
      lower.size(), upper.size(), t.shapeToString());
  for (unsigned dim = 0; dim < lower.size(); ++dim) {
    t = padDimension(t, lower[dim], upper[dim], dim, make);
  }
  return t;
}

// The slice next to an end.
Tensor edgeOf(const Tensor &t, unsigned dim, End end) {
  const auto extent = t.dim(dim);
  requireUser<poplibs_error>(
      extent != 0, "[popops::pad] dimension {} of shape {} has no edge", dim,
      t.shapeToString());
  const auto at = end == End::Lower ? 0 : extent - 1;
  return t.slice(at, at + 1, dim);
}

// A tensor of one element in another shape.
Tensor repeated(const Tensor &element, const std::vector<std::size_t> &shape) {
  std::size_t elements = 1;
  for (const auto extent : shape) {
    elements *= extent;
  }
  return element.reshape({1})
      .broadcast(static_cast<unsigned>(elements), 0)
      .reshape(shape);
}

template <typename T>
MakePadding constants(Graph &graph, T value, padding::MappingMethod method) {
  return [&graph, value, method](const Tensor &t, unsigned dim,
                                 std::size_t count, End end) {
    auto shape = t.shape();
    shape[dim] = count;
    if (method == padding::MappingMethod::ZERO) {
      // One element on tile 0 that repeats, not all of them.
      const auto element = graph.addConstant(t.elementType(), {1}, value);
      graph.setTileMapping(element, 0);
      return repeated(element, shape);
    }
    const auto padding = graph.addConstant(t.elementType(), shape, value);
    if (method == padding::MappingMethod::EDGE) {
      const auto mapping = graph.getTileMapping(edgeOf(t, dim, end));
      for (std::size_t i = 0; i < count; ++i) {
        graph.setTileMapping(padding.slice(i, i + 1, dim), mapping);
      }
    }
    return padding;
  };
}

MakePadding repeats(const Tensor &value) {
  requireUser<poplibs_error>(
      value.numElements() == 1,
      "[popops::pad] the value has shape {}; it must have one element",
      value.shapeToString());
  return [value](const Tensor &t, unsigned dim, std::size_t count, End) {
    requireUser<poplibs_error>(
        value.elementType() == t.elementType(),
        "[popops::pad] the value has another type than the tensor");
    auto shape = t.shape();
    shape[dim] = count;
    return repeated(value, shape);
  };
}

MakePadding ofTensor(padding::Type type) {
  return [type](const Tensor &t, unsigned dim, std::size_t count, End end) {
    if (type == padding::Type::EDGE) {
      return edgeOf(t, dim, end).broadcast(static_cast<unsigned>(count), dim);
    }
    const auto extent = t.dim(dim);
    requireUser<poplibs_error>(
        count < extent,
        "[popops::pad] {} elements reflected in dimension {} of shape {}; "
        "there may be {}",
        count, dim, t.shapeToString(), extent == 0 ? 0 : extent - 1);
    const auto begin = end == End::Lower ? 1 : extent - 1 - count;
    return t.slice(begin, begin + count, dim).reverse(dim);
  };
}

} // namespace

Tensor pad(Graph &graph, const Tensor &t, const Amounts &paddingLower,
           const Amounts &paddingUpper, float val,
           padding::MappingMethod mappingMethod) {
  return padAll(t, paddingLower, paddingUpper,
                constants(graph, val, mappingMethod));
}

Tensor pad(Graph &graph, const Tensor &t, const Amounts &paddingLower,
           const Amounts &paddingUpper, int val,
           padding::MappingMethod mappingMethod) {
  return padAll(t, paddingLower, paddingUpper,
                constants(graph, val, mappingMethod));
}

Tensor pad(Graph &, const Tensor &t, const Amounts &paddingLower,
           const Amounts &paddingUpper, const Tensor &val,
           padding::MappingMethod) {
  return padAll(t, paddingLower, paddingUpper, repeats(val));
}

Tensor pad(Graph &graph, const Tensor &t, std::ptrdiff_t paddingLower,
           std::ptrdiff_t paddingUpper, unsigned dim, float val,
           padding::MappingMethod mappingMethod) {
  return padDimension(t, paddingLower, paddingUpper, dim,
                      constants(graph, val, mappingMethod));
}

Tensor pad(Graph &graph, const Tensor &t, std::ptrdiff_t paddingLower,
           std::ptrdiff_t paddingUpper, unsigned dim, int val,
           padding::MappingMethod mappingMethod) {
  return padDimension(t, paddingLower, paddingUpper, dim,
                      constants(graph, val, mappingMethod));
}

Tensor pad(Graph &, const Tensor &t, std::ptrdiff_t paddingLower,
           std::ptrdiff_t paddingUpper, unsigned dim, const Tensor &val,
           padding::MappingMethod) {
  return padDimension(t, paddingLower, paddingUpper, dim, repeats(val));
}

Tensor pad(const Tensor &t, const Amounts &paddingLower,
           const Amounts &paddingUpper, padding::Type type) {
  return padAll(t, paddingLower, paddingUpper, ofTensor(type));
}

Tensor pad(const Tensor &t, std::ptrdiff_t paddingLower,
           std::ptrdiff_t paddingUpper, unsigned dim, padding::Type type) {
  return padDimension(t, paddingLower, paddingUpper, dim, ofTensor(type));
}

} // namespace popops
