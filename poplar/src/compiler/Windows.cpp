#include "compiler/Windows.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

namespace poplar::compiler {
namespace {

struct Dim {
  std::int64_t extent;
  std::int64_t stride;
};

// Dimensions of extent 1 say nothing and are left out.
std::vector<Dim> significantDims(const Window &window) {
  std::vector<Dim> dims;
  for (std::size_t d = 0; d < window.shape.size(); ++d) {
    if (window.shape[d] != 1) {
      dims.push_back({window.shape[d], window.strides[d]});
    }
  }
  return dims;
}

// A dimension of elements that flow from one window to another.
struct FlowDim {
  std::int64_t extent;
  std::int64_t target;
  std::int64_t source;
};

// The common dimensions of a flow, neighbours joined where both sides allow,
// sorted by the target's stride, largest first.
std::vector<FlowDim> flowDims(const Window &target, const Window &source) {
  std::vector<FlowDim> dims;
  for (std::size_t d = 0; d < target.shape.size(); ++d) {
    if (target.shape[d] == 1) {
      continue;
    }
    const FlowDim dim = {target.shape[d], target.strides[d], source.strides[d]};
    if (!dims.empty() && dims.back().target == dim.target * dim.extent &&
        dims.back().source == dim.source * dim.extent) {
      dims.back() = {dims.back().extent * dim.extent, dim.target, dim.source};
    } else {
      dims.push_back(dim);
    }
  }
  std::sort(dims.begin(), dims.end(), [](const FlowDim &a, const FlowDim &b) {
    return a.target > b.target;
  });
  return dims;
}

} // namespace

Window wholeWindow(ValueId id, const Value &value) {
  return {id, 0, value.shape, support::rowMajorStrides(value.shape)};
}

bool isContiguous(const Window &window) {
  std::int64_t next = 1;
  const std::vector<Dim> dims = significantDims(window);
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
    if (dim->stride != next) {
      return false;
    }
    next *= dim->extent;
  }
  return true;
}

bool isWholeInOrder(const Window &window, const Value &value) {
  return window.offset == 0 && isContiguous(window) &&
         support::elementCount(window.shape) ==
             support::elementCount(value.shape);
}

bool isWholeInAnyOrder(const Window &window, const Value &value) {
  if (window.offset != 0 || support::elementCount(window.shape) !=
                                support::elementCount(value.shape)) {
    return false;
  }
  std::vector<Dim> dims = significantDims(window);
  std::sort(dims.begin(), dims.end(),
            [](const Dim &a, const Dim &b) { return a.stride < b.stride; });
  std::int64_t next = 1;
  for (const Dim &dim : dims) {
    if (dim.stride != next) {
      return false;
    }
    next *= dim.extent;
  }
  return true;
}

bool hasBroadcast(const Window &window) {
  const std::vector<Dim> dims = significantDims(window);
  return std::any_of(dims.begin(), dims.end(),
                     [](const Dim &dim) { return dim.stride == 0; });
}

bool isSameWindow(const Window &a, const Window &b) {
  if (a.offset != b.offset) {
    return false;
  }
  const std::vector<Dim> left = significantDims(a), right = significantDims(b);
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const Dim &x, const Dim &y) {
                      return x.extent == y.extent && x.stride == y.stride;
                    });
}

ElementRange elementRange(const Window &window) {
  if (support::elementCount(window.shape) == 0) {
    return {window.offset, window.offset};
  }
  ElementRange range = {window.offset, window.offset + 1};
  for (std::size_t d = 0; d < window.shape.size(); ++d) {
    const std::int64_t reach = (window.shape[d] - 1) * window.strides[d];
    (reach < 0 ? range.begin : range.end) += reach;
  }
  return range;
}

std::optional<Window> seeThrough(const Window &read, const Window &target,
                                 const Window &source) {
  const std::vector<FlowDim> dims = flowDims(target, source);
  // The target's elements must be a mixed-radix number: digit d counts steps
  // of dims[d].target and never carries into the next.
  std::int64_t reach = 0;
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
    if (dim->target <= reach) {
      return std::nullopt;
    }
    reach += dim->target * (dim->extent - 1);
  }
  Window result{source.value, source.offset, read.shape, {}};
  std::vector<std::int64_t> digits; // of the read's lowest element, then
                                    // raised by what its dimensions add
  std::int64_t rest = read.offset - target.offset;
  for (const FlowDim &dim : dims) {
    const std::int64_t digit =
        rest < 0 ? -1 : std::min(rest / dim.target, dim.extent - 1);
    if (digit < 0) {
      return std::nullopt;
    }
    digits.push_back(digit);
    rest -= digit * dim.target;
    result.offset += digit * dim.source;
  }
  if (rest != 0) {
    return std::nullopt;
  }
  for (std::size_t d = 0; d < read.shape.size(); ++d) {
    const std::int64_t stride = read.strides[d];
    if (read.shape[d] == 1 || stride == 0) {
      result.strides.push_back(0);
      continue;
    }
    // The digit that this dimension steps through.
    const auto dim =
        std::find_if(dims.begin(), dims.end(), [&](const FlowDim &candidate) {
          return stride % candidate.target == 0;
        });
    if (stride < 0 || dim == dims.end()) {
      return std::nullopt;
    }
    const std::int64_t steps = stride / dim->target;
    std::int64_t &digit = digits[static_cast<std::size_t>(dim - dims.begin())];
    digit += steps * (read.shape[d] - 1);
    if (digit >= dim->extent) {
      return std::nullopt;
    }
    result.strides.push_back(steps * dim->source);
  }
  return result;
}

bool makeShapesEqual(Window &a, Window &b) {
  std::vector<Dim> left = significantDims(a), right = significantDims(b);
  std::vector<FlowDim> common; // innermost first; target: a, source: b
  while (!left.empty() && !right.empty()) {
    Dim &x = left.back();
    Dim &y = right.back();
    const std::int64_t extent = std::min(x.extent, y.extent);
    if (extent == 0 || x.extent % extent != 0 || y.extent % extent != 0) {
      return false;
    }
    common.push_back({extent, x.stride, y.stride});
    for (auto *dims : {&left, &right}) {
      Dim &dim = dims->back();
      if (dim.extent == extent) {
        dims->pop_back();
      } else {
        dim = {dim.extent / extent, dim.stride * extent};
      }
    }
  }
  if (!left.empty() || !right.empty()) {
    return false;
  }
  a.shape.clear(), a.strides.clear(), b.shape.clear(), b.strides.clear();
  for (auto dim = common.rbegin(); dim != common.rend(); ++dim) {
    // Join what is one dimension on both sides.
    if (!a.shape.empty() && a.strides.back() == dim->target * dim->extent &&
        b.strides.back() == dim->source * dim->extent) {
      a.shape.back() *= dim->extent;
      b.shape.back() *= dim->extent;
      a.strides.back() = dim->target;
      b.strides.back() = dim->source;
    } else {
      a.shape.push_back(dim->extent);
      b.shape.push_back(dim->extent);
      a.strides.push_back(dim->target);
      b.strides.push_back(dim->source);
    }
  }
  return true;
}

std::optional<Window> reshaped(const Window &window,
                               const support::Shape &shape) {
  Window result{window.value, window.offset, shape,
                support::Strides(shape.size(), 0)};
  std::vector<Dim> dims = significantDims(window);
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 1) {
      continue;
    }
    // Join dimensions until there is enough for this one; the rest is for the
    // next.
    while (dims.size() > 1 && dims.back().extent < shape[d]) {
      const Dim inner = dims.back();
      dims.pop_back();
      if (dims.back().stride != inner.stride * inner.extent) {
        return std::nullopt;
      }
      dims.back() = {dims.back().extent * inner.extent, inner.stride};
    }
    if (dims.empty() || shape[d] == 0 || dims.back().extent % shape[d] != 0) {
      return std::nullopt;
    }
    Dim &dim = dims.back();
    result.strides[d] = dim.stride;
    dim = {dim.extent / shape[d], dim.stride * shape[d]};
    if (dim.extent == 1) {
      dims.pop_back();
    }
  }
  return dims.empty() ? std::optional(result) : std::nullopt;
}

} // namespace poplar::compiler
