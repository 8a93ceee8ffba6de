// Parts of tensors, in which operators describe what they alias and modify.
// In-place variants are the compiler's choice here, so nothing reads them.
#pragma once

#include <popart/names.hpp>

#include <functional>
#include <utility>
#include <vector>

namespace popart {
namespace view {

// A box of elements, [lower, upper) in every dimension.
class Region {
public:
  Region(std::vector<std::int64_t> lower, std::vector<std::int64_t> upper)
      : lower_(std::move(lower)), upper_(std::move(upper)) {}

  static Region getFull(const Shape &shape) {
    return Region(Shape(shape.size(), 0), shape);
  }
  static Region getEmpty(Rank rank) {
    Shape nothing(static_cast<std::size_t>(rank), 0);
    return Region(nothing, nothing);
  }

  Rank rank() const { return static_cast<Rank>(lower_.size()); }
  const Shape &getLower() const { return lower_; }
  const Shape &getUpper() const { return upper_; }
  std::int64_t nelms() const {
    std::int64_t count = 1;
    for (std::size_t d = 0; d < lower_.size(); ++d) {
      count *= upper_[d] - lower_[d];
    }
    return count;
  }
  bool isEmpty() const { return nelms() == 0; }
  friend bool operator==(const Region &a, const Region &b) {
    return a.lower_ == b.lower_ && a.upper_ == b.upper_;
  }

private:
  Shape lower_;
  Shape upper_;
};

using Regions = std::vector<Region>;
using RegMap = std::function<Regions(const Region &)>;

} // namespace view
} // namespace popart
