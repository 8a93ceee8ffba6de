// The order of a tensor's elements in memory: regions, rearranging, and the
// tensor that a broadcast one was made from.
#include <poplar/Graph.hpp>

#include "Handles.hpp"
#include "PieceSelect.hpp"
#include "ViewSets.hpp"

#include <support/Error.hpp>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

namespace poplar {

using internal::ElementRun;
using internal::ownData;
using internal::TensorView;
using internal::VariableId;

namespace {

// A run of a variable, and where the flattened tensor has it.
struct PlacedRun {
  ElementRun run;
  std::size_t position = 0;

  std::size_t size() const {
    return static_cast<std::size_t>(run.end - run.begin);
  }
  friend bool operator<(const PlacedRun &a, const PlacedRun &b) {
    return std::tie(a.run.variable, a.run.begin, a.position) <
           std::tie(b.run.variable, b.run.begin, b.position);
  }
};

std::vector<PlacedRun> placedRuns(const Tensor &flat,
                                  ArrayRef<Interval> regions) {
  std::vector<PlacedRun> runs;
  for (const Interval &region : regions) {
    std::size_t position = region.begin();
    internal::forEachRun(
        internal::tensorView(flat.slice(region)),
        [&](VariableId variable, std::int64_t begin, std::int64_t count) {
          runs.push_back({{variable, begin, begin + count}, position});
          position += static_cast<std::size_t>(count);
        });
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

// Cuts sorted runs so that any two are the same elements or have none in
// common; then they are sorted again.
void cutWhereAliased(std::vector<PlacedRun> &runs) {
  std::set<std::pair<VariableId, std::int64_t>> cuts;
  for (const PlacedRun &placed : runs) {
    cuts.emplace(placed.run.variable, placed.run.begin);
    cuts.emplace(placed.run.variable, placed.run.end);
  }
  std::vector<PlacedRun> parts;
  for (PlacedRun placed : runs) {
    for (auto cut = cuts.upper_bound({placed.run.variable, placed.run.begin});
         cut->second < placed.run.end; ++cut) {
      PlacedRun part = placed;
      part.run.end = cut->second;
      parts.push_back(part);
      placed.position += part.size();
      placed.run.begin = cut->second;
    }
    parts.push_back(placed);
  }
  std::sort(parts.begin(), parts.end());
  runs = std::move(parts);
}

bool isSameRun(const PlacedRun &a, const PlacedRun &b) {
  return a.run == b.run;
}

// Splits sorted runs into those that come first of their elements, those that
// come second, and so on: each layer has no aliases.
std::vector<std::vector<std::size_t>>
layersOf(const std::vector<PlacedRun> &runs) {
  std::vector<std::vector<std::size_t>> layers;
  std::size_t layer = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    layer = i > 0 && isSameRun(runs[i - 1], runs[i]) ? layer + 1 : 0;
    layers.resize(std::max(layers.size(), layer + 1));
    layers[layer].push_back(i);
  }
  return layers;
}

} // namespace

std::vector<std::vector<Interval>> Graph::getSortedContiguousRegions(
    const Tensor &tensor, ArrayRef<Interval> regions,
    bool removeAliasedIntervals, std::vector<std::size_t> *aliases) const {
  std::vector<PlacedRun> runs = placedRuns(tensor.flatten(), regions);
  bool hasAliases = false;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    hasAliases =
        hasAliases || (runs[i].run.variable == runs[i - 1].run.variable &&
                       runs[i].run.begin < runs[i - 1].run.end);
  }
  if (hasAliases) {
    cutWhereAliased(runs);
  }
  std::vector<std::size_t> numberOf(runs.size());
  for (std::size_t i = 1; i < runs.size(); ++i) {
    numberOf[i] = numberOf[i - 1] + (isSameRun(runs[i - 1], runs[i]) ? 0 : 1);
  }
  std::vector<std::vector<Interval>> result;
  if (aliases != nullptr) {
    aliases->clear();
  }
  for (const auto &layer : layersOf(runs)) {
    const PlacedRun *last = nullptr;
    for (std::size_t i : layer) {
      const PlacedRun &next = runs[i];
      const Interval interval(next.position, next.position + next.size());
      const bool goesOn = last != nullptr &&
                          last->run.variable == next.run.variable &&
                          last->run.end == next.run.begin;
      if (goesOn && aliases == nullptr &&
          result.back().back().end() == interval.begin()) {
        result.back().back() =
            Interval(result.back().back().begin(), interval.end());
      } else if (goesOn) {
        result.back().push_back(interval);
      } else {
        result.push_back({interval});
      }
      if (aliases != nullptr) {
        aliases->push_back(numberOf[i]);
      }
      last = &next;
    }
    if (removeAliasedIntervals) {
      break;
    }
  }
  return result;
}

// An order of elements: dimensions of a piece in another order or, for tensors
// of several pieces, intervals one after another.
class internal::ElementOrder {
public:
  ElementOrder(const Graph &graph, const Tensor &tensor) {
    const std::vector<Piece> &pieces = tensorView(tensor).pieces;
    if (pieces.empty()) {
      shape_ = {0};
      permutation_ = {0};
      return;
    }
    if (pieces.size() == 1) {
      const support::Strides &strides = pieces[0].strides;
      shape_.assign(pieces[0].extents.begin(), pieces[0].extents.end());
      permutation_.resize(shape_.size());
      std::iota(permutation_.begin(), permutation_.end(), 0U);
      std::stable_sort(permutation_.begin(), permutation_.end(),
                       [&](unsigned a, unsigned b) {
                         return std::abs(strides[a]) > std::abs(strides[b]);
                       });
      for (unsigned d = 0; d < permutation_.size(); ++d) {
        if (strides[permutation_[d]] < 0) {
          reversed_.push_back(d);
        }
      }
      return;
    }
    for (const auto &list : graph.getSortedContiguousRegions(
             tensor, {Interval(0, tensor.numElements())})) {
      intervals_.insert(intervals_.end(), list.begin(), list.end());
    }
  }

  Tensor apply(const Tensor &tensor) const {
    if (intervals_.empty()) {
      return reverse(tensor.reshape(shape_).dimShuffle(permutation_)).flatten();
    }
    return concat(tensor.flatten().slices(intervals_));
  }

  Tensor undo(const Tensor &tensor) const {
    if (intervals_.empty()) {
      std::vector<std::size_t> shape;
      std::vector<unsigned> inverse(permutation_.size());
      for (unsigned i = 0; i < permutation_.size(); ++i) {
        shape.push_back(shape_[permutation_[i]]);
        inverse[permutation_[i]] = i;
      }
      return reverse(tensor.reshape(shape)).dimShuffle(inverse).flatten();
    }
    // Each interval's part of the tensor, by where the interval begins.
    std::vector<std::pair<std::size_t, Tensor>> parts;
    const Tensor flat = tensor.flatten();
    std::size_t position = 0;
    for (const Interval &interval : intervals_) {
      parts.emplace_back(interval.begin(),
                         flat.slice(position, position + interval.size()));
      position += interval.size();
    }
    std::sort(parts.begin(), parts.end(),
              [](const auto &a, const auto &b) { return a.first < b.first; });
    std::vector<Tensor> ordered;
    for (auto &[begin, part] : parts) {
      ordered.push_back(std::move(part));
    }
    return concat(ordered);
  }

private:
  Tensor reverse(Tensor tensor) const {
    for (unsigned d : reversed_) {
      tensor = tensor.reverse(d);
    }
    return tensor;
  }

  std::vector<std::size_t> shape_;
  std::vector<unsigned> permutation_;
  std::vector<unsigned> reversed_;  // dimensions of the result
  std::vector<Interval> intervals_; // of the flattened tensor
};

Tensor TensorRearranger::rearrange(const Tensor &tensor) const {
  return order_ == nullptr ? tensor : order_->apply(tensor);
}

Tensor TensorRearranger::undoRearrangement(const Tensor &tensor) const {
  return order_ == nullptr ? tensor : order_->undo(tensor);
}

TensorRearranger Graph::getSimplifyingRearranger(const Tensor &tensor) const {
  ownData(*data_, tensor, "poplar::Graph::getSimplifyingRearranger");
  return TensorRearranger(
      std::make_shared<const internal::ElementOrder>(*this, tensor));
}

void Graph::reorderToSimplify(Tensor *tensor, ArrayRef<Tensor *> others,
                              bool) const {
  const TensorRearranger rearranger = getSimplifyingRearranger(*tensor);
  *tensor = rearranger.rearrange(*tensor);
  for (Tensor *other : others) {
    support::requireUser<poplar_error>(
        other->numElements() == tensor->numElements(),
        "[poplar::Graph::reorderToSimplify] a tensor of shape {} given; as "
        "many elements as the first tensor's {} are needed",
        other->shapeToString(), tensor->numElements());
    *other = rearranger.rearrange(*other);
  }
}

namespace {

// The repetitions inside one dimension of a view: `outer` copies of all of it
// side by side, and each element `inner` times.
struct Repetition {
  std::int64_t outer = 1;
  std::int64_t inner = 1;
};

// Takes the innermost dimensions of a piece that make up `extent` elements.
// False if the piece's dimensions do not end there.
bool takeDimension(internal::Piece &piece, std::int64_t extent,
                   Repetition &repetition) {
  bool isInnermost = true;
  while (extent > 1) {
    if (piece.extents.empty()) {
      return false;
    }
    std::int64_t &available = piece.extents.back();
    const std::int64_t stride = piece.strides.back();
    const std::int64_t taken = std::min(extent, available);
    if (extent % taken != 0 || available % taken != 0) {
      return false;
    }
    extent /= taken;
    if (stride == 0 && isInnermost) {
      repetition.inner = taken;
    } else if (stride == 0 && extent == 1) {
      repetition.outer = taken;
    }
    isInnermost = false;
    available /= taken;
    piece.strides.back() *= taken;
    if (available == 1) {
      piece.extents.pop_back();
      piece.strides.pop_back();
    }
  }
  return true;
}

} // namespace

Tensor Graph::findUnbroadcastTensor(const Tensor &tensor) const {
  const TensorView &view =
      ownData(*data_, tensor, "poplar::Graph::findUnbroadcastTensor").view;
  if (view.pieces.size() != 1) {
    return tensor;
  }
  internal::Piece piece = view.pieces[0];
  internal::simplifyDimensions(piece.extents, piece.strides);
  Tensor result = tensor;
  for (unsigned d = tensor.rank(); d-- > 0;) {
    Repetition repetition;
    if (!takeDimension(piece, view.shape[d], repetition)) {
      return tensor;
    }
    if (repetition.outer > 1) {
      result = result.slice(
          0, result.dim(d) / static_cast<std::size_t>(repetition.outer), d);
    }
    if (repetition.inner > 1) {
      result = result.subSample(static_cast<unsigned>(repetition.inner), d);
    }
  }
  return result;
}

} // namespace poplar
