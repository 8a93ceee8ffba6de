// Graph: clones, which take over the tile mapping of a tensor and, as far as is
// asked for, the order of its elements in memory.
#include <poplar/Graph.hpp>

#include "Handles.hpp"
#include "PieceSelect.hpp"
#include "ViewSets.hpp"

#include <support/Error.hpp>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace poplar {

using internal::ElementRun;
using internal::GraphData;
using internal::MappingPiece;
using internal::ownData;
using internal::Piece;
using internal::TensorView;
using internal::VariableId;

namespace {

// The dimensions by falling stride: the order in which the variable stores
// them.
std::vector<unsigned> storageOrder(const support::Strides &strides) {
  std::vector<unsigned> order(strides.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
    return std::abs(strides[a]) > std::abs(strides[b]);
  });
  return order;
}

std::vector<unsigned> inverse(const std::vector<unsigned> &permutation) {
  std::vector<unsigned> result(permutation.size());
  for (unsigned i = 0; i < permutation.size(); ++i) {
    result[permutation[i]] = i;
  }
  return result;
}

// Elements of a variable that a clone keeps side by side, and where.
struct Segment {
  ElementRun run;
  unsigned tile = 0; // only if elements are gathered by tile
  std::int64_t base = 0;
};

// Every element of the view once, in the order of the variables.
std::vector<Segment> segmentsOf(const GraphData &graph, const TensorView &view,
                                bool isGatheredByTile) {
  std::vector<ElementRun> runs = internal::elementRuns(view.pieces);
  std::sort(
      runs.begin(), runs.end(), [](const ElementRun &a, const ElementRun &b) {
        return std::tie(a.variable, a.begin) < std::tie(b.variable, b.begin);
      });
  std::vector<ElementRun> merged;
  for (const ElementRun &run : runs) {
    if (!merged.empty() && merged.back().variable == run.variable &&
        merged.back().end >= run.begin) {
      merged.back().end = std::max(merged.back().end, run.end);
    } else {
      merged.push_back(run);
    }
  }
  std::vector<Segment> segments;
  for (const ElementRun &run : merged) {
    if (!isGatheredByTile) {
      segments.push_back({run});
      continue;
    }
    std::int64_t done = run.begin;
    const auto add = [&](std::int64_t end, unsigned tile) {
      if (done < end) {
        segments.push_back({{run.variable, done, end}, tile});
        done = end;
      }
    };
    for (const auto &range :
         graph[run.variable].mapping.ranges(run.begin, run.end)) {
      add(range.begin, 0); // not mapped
      add(range.end, range.tile);
    }
    add(run.end, 0);
  }
  return segments;
}

// Places the segments one after another and returns their size.
std::int64_t placeSegments(std::vector<Segment> &segments) {
  std::vector<Segment *> order;
  for (Segment &segment : segments) {
    order.push_back(&segment);
  }
  std::stable_sort(
      order.begin(), order.end(),
      [](const Segment *a, const Segment *b) { return a->tile < b->tile; });
  std::int64_t size = 0;
  for (Segment *segment : order) {
    segment->base = size;
    size += segment->run.end - segment->run.begin;
  }
  return size;
}

const Segment &segmentAt(const std::vector<Segment> &segments,
                         VariableId variable, std::int64_t element) {
  const auto next = std::partition_point(
      segments.begin(), segments.end(), [&](const Segment &s) {
        return std::tie(s.run.variable, s.run.begin) <=
               std::tie(variable, element);
      });
  return *std::prev(next);
}

// The view over a new variable that holds the segments.
TensorView moveView(const TensorView &view, VariableId variable,
                    const std::vector<Segment> &segments) {
  TensorView result{view.type, view.shape, {}};
  for (const Piece &piece : view.pieces) {
    const Piece sorted = internal::sortedPiece(piece);
    const Segment &segment = segmentAt(segments, piece.variable, sorted.offset);
    std::int64_t end = sorted.offset + 1;
    for (std::size_t d = 0; d < sorted.extents.size(); ++d) {
      end += (sorted.extents[d] - 1) * sorted.strides[d];
    }
    if (end <= segment.run.end) {
      result.pieces.push_back(piece);
      result.pieces.back().variable = variable;
      result.pieces.back().offset += segment.base - segment.run.begin;
      continue;
    }
    internal::forEachRun(
        TensorView{view.type, piece.extents, {piece}},
        [&](VariableId from, std::int64_t begin, std::int64_t count) {
          while (count > 0) {
            const Segment &part = segmentAt(segments, from, begin);
            const std::int64_t size = std::min(count, part.run.end - begin);
            result.pieces.push_back(
                {variable, part.base + begin - part.run.begin, {size}, {1}});
            begin += size;
            count -= size;
          }
        });
  }
  return result;
}

void moveMapping(GraphData &graph, VariableId variable,
                 const std::vector<Segment> &segments) {
  std::vector<MappingPiece> pieces;
  for (const Segment &segment : segments) {
    const ElementRun &run = segment.run;
    for (const auto &range :
         graph[run.variable].mapping.ranges(run.begin, run.end)) {
      const std::int64_t shift = segment.base - run.begin;
      pieces.push_back({range.begin + shift, range.end + shift, range.tile, 1,
                        range.end - range.begin});
    }
  }
  graph[variable].mapping.set(std::move(pieces));
}

// A clone in the order of memory, in which what was aliased stays so.
Tensor cloneSegments(Graph &graph, const Type &type, const TensorView &view,
                     const DebugContext &debugContext, bool isGatheredByTile) {
  GraphData &data = internal::graphData(graph);
  std::vector<Segment> segments = segmentsOf(data, view, isGatheredByTile);
  const auto size = static_cast<std::size_t>(placeSegments(segments));
  graph.addVariable(type, {size}, debugContext);
  const VariableId variable(data.variables.size() - 1);
  moveMapping(data, variable, segments);
  TensorView moved = moveView(view, variable, segments);
  moved.type = internal::toDataType(type);
  return internal::makeTensor(graph, std::move(moved));
}

// A clone whose variable has the dimensions in the given order.
Tensor cloneDimensions(Graph &graph, const Type &type, const Tensor &tensor,
                       const std::vector<unsigned> &order,
                       const DebugContext &debugContext) {
  const Tensor stored = tensor.dimShuffle(order);
  const Tensor result = graph.addVariable(type, stored.shape(), debugContext);
  GraphData &data = internal::graphData(graph);
  const TensorView &view = internal::tensorView(stored);
  if (internal::isOneRun(view) && view.pieces[0].offset == 0 &&
      view.elements() == data[view.pieces[0].variable].elements()) {
    data.variables.back().mapping = data[view.pieces[0].variable].mapping;
  } else {
    // Elements may lie on tiles that a virtual graph does not have.
    Graph whole = graph.getTopLevelGraph();
    whole.setTileMapping(result, whole.getTileMapping(stored, false));
  }
  return result.dimShuffle(inverse(order));
}

Tensor cloneElements(Graph &graph, const Type &type, const Tensor &tensor,
                     const TensorView &view, const DebugContext &debugContext,
                     TensorCloneMethod method) {
  std::vector<unsigned> natural(tensor.rank());
  std::iota(natural.begin(), natural.end(), 0U);
  if (method == TensorCloneMethod::CREATE_NEW_ORDER || view.pieces.empty()) {
    return cloneDimensions(graph, type, tensor, natural, debugContext);
  }
  if (method == TensorCloneMethod::GATHER_AND_PRESERVE_TILE_ORDER_AND_ALIASES) {
    return cloneSegments(graph, type, view, debugContext, true);
  }
  const bool hasAliases = internal::containsAliases(view);
  if (hasAliases &&
      method == TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES) {
    return cloneDimensions(graph, type, tensor, natural, debugContext);
  }
  internal::AffineView affine;
  if (!hasAliases && internal::toAffine(view, affine)) {
    return cloneDimensions(graph, type, tensor, storageOrder(affine.strides),
                           debugContext);
  }
  return cloneSegments(graph, type, view, debugContext, false);
}

} // namespace

Tensor Graph::clone(const Tensor &tensor, const DebugContext &debugContext,
                    TensorCloneMethod method) {
  return clone(tensor.elementType(), tensor, debugContext, method);
}

Tensor Graph::clone(const Type &type, const Tensor &tensor,
                    const DebugContext &debugContext,
                    TensorCloneMethod method) {
  const TensorView &view = ownData(*data_, tensor, "poplar::Graph::clone").view;
  Tensor result =
      cloneElements(*this, type, tensor, view, debugContext, method);
  if (type == QUARTER && tensor.hasMetadata()) {
    result.associateMetadata(tensor.getMetadata());
  }
  return result;
}

Tensor Graph::cloneN(const Tensor &tensor, std::size_t N,
                     const DebugContext &debugContext, TensorCloneMethod method,
                     TensorCloneDuplicationMethod) {
  support::requireUser<poplar_error>(
      N > 0,
      "[poplar::Graph::cloneN] 0 clones asked for; at least 1 is needed");
  std::vector<Tensor> clones;
  for (std::size_t i = 0; i < N; ++i) {
    clones.push_back(clone(tensor, debugContext, method).expand({0}));
  }
  return concat(clones);
}

} // namespace poplar
