#include "compiler/CheckPrograms.hpp"

#include "program/VisitPrograms.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

namespace poplar::compiler {
namespace {

using internal::GraphData;
using internal::Piece;
using internal::ProgramNode;
using internal::ProgramPtr;
using internal::TensorView;

// Elements [first, second) of a variable that hold everything of the piece.
std::pair<std::int64_t, std::int64_t> bounds(const Piece &piece) {
  std::int64_t low = piece.offset, high = piece.offset;
  for (std::size_t d = 0; d < piece.extents.size(); ++d) {
    const std::int64_t reach = (piece.extents[d] - 1) * piece.strides[d];
    (reach < 0 ? low : high) += reach;
  }
  return {low, high + 1};
}

// No two indices meet: sorted by stride, each dimension steps over all that the
// smaller ones reach. The rare interleaved piece that fails this and still has
// no alias is found out by looking at every element.
bool hasNoAlias(const Piece &piece) {
  std::vector<std::pair<std::int64_t, std::int64_t>> dims; // stride, extent
  for (std::size_t d = 0; d < piece.extents.size(); ++d) {
    if (piece.extents[d] > 1) {
      dims.emplace_back(std::abs(piece.strides[d]), piece.extents[d]);
    }
  }
  std::sort(dims.begin(), dims.end());
  std::int64_t reach = 0;
  for (const auto &[stride, extent] : dims) {
    if (stride <= reach) {
      return false;
    }
    reach += stride * (extent - 1);
  }
  return true;
}

bool hasNoAliasByElement(const GraphData &graph, const TensorView &view) {
  std::vector<std::vector<bool>> isSeen(graph.variables.size());
  bool isUnique = true;
  forEachRun(view, [&](internal::VariableId variable, std::int64_t first,
                       std::int64_t count) {
    auto &seen = isSeen[variable.index()];
    seen.resize(
        static_cast<std::size_t>(graph.variables[variable.index()].elements()));
    for (std::int64_t i = first; i < first + count; ++i) {
      isUnique = isUnique && !seen[static_cast<std::size_t>(i)];
      seen[static_cast<std::size_t>(i)] = true;
    }
  });
  return isUnique;
}

bool isFreeOfAliases(const GraphData &graph, const TensorView &view) {
  bool isSimple = std::all_of(view.pieces.begin(), view.pieces.end(),
                              [](const Piece &p) { return hasNoAlias(p); });
  for (std::size_t i = 0; isSimple && i < view.pieces.size(); ++i) {
    const auto [low, high] = bounds(view.pieces[i]);
    for (std::size_t j = 0; j < i; ++j) {
      const auto [otherLow, otherHigh] = bounds(view.pieces[j]);
      isSimple =
          isSimple && (view.pieces[i].variable != view.pieces[j].variable ||
                       high <= otherLow || otherHigh <= low);
    }
  }
  return isSimple || hasNoAliasByElement(graph, view);
}

template <typename Error>
void requireWriteable(const GraphData &graph, const TensorView &view,
                      const std::string &what) {
  for (const Piece &piece : view.pieces) {
    const internal::Variable &variable =
        graph.variables[piece.variable.index()];
    support::requireUser<Error>(!variable.isConstant,
                                "{} writes to the constant '{}'", what,
                                variable.debugPath);
  }
  support::requireUser<Error>(
      isFreeOfAliases(graph, view),
      "{} writes to a tensor of shape {} in which an element appears more than "
      "once; write to a tensor without aliases and copy it",
      what, support::toString(view.shape));
}

void requireSame(const std::string &what, support::DataType sourceType,
                 std::int64_t sourceElements, support::DataType type,
                 std::int64_t elements) {
  support::requireUser<control_program_error>(
      sourceType == type, "{} copies {} elements to {} elements", what,
      support::toString(sourceType), support::toString(type));
  support::requireUser<control_program_error>(
      sourceElements == elements, "{} copies {} elements to {} elements", what,
      sourceElements, elements);
}

void check(const GraphData &graph, const ProgramNode &node,
           const internal::CopyNode &copy) {
  const std::string what = fmt::format("[Copy] '{}'", node.debugPath);
  requireSame(what, copy.source.type, copy.source.elements(),
              copy.destination.type, copy.destination.elements());
  requireWriteable<control_program_error>(graph, copy.destination, what);
}

void check(const GraphData &graph, const ProgramNode &node,
           const internal::StreamInNode &copy) {
  const internal::StreamData &stream = graph.streams[copy.stream.index()];
  const std::string what = fmt::format("[Copy] '{}' from stream '{}'",
                                       node.debugPath, stream.handle);
  requireSame(what, stream.type, stream.elements, copy.destination.type,
              copy.destination.elements());
  requireWriteable<control_program_error>(graph, copy.destination, what);
}

void check(const GraphData &graph, const ProgramNode &node,
           const internal::StreamOutNode &copy) {
  const internal::StreamData &stream = graph.streams[copy.stream.index()];
  requireSame(
      fmt::format("[Copy] '{}' to stream '{}'", node.debugPath, stream.handle),
      copy.source.type, copy.source.elements(), stream.type, stream.elements);
}

void check(const GraphData &graph, const ProgramNode &,
           const internal::ExecuteNode &execute) {
  for (const internal::VertexGroup &group :
       graph.computeSets[execute.computeSet.index()].groups) {
    for (const TensorView &output : group.outputs) {
      requireWriteable<graph_connection_error>(
          graph, output,
          fmt::format("[{}] '{}'", group.kind->name, group.debugPath));
    }
  }
}

template <typename Op>
void check(const GraphData &, const ProgramNode &, const Op &) {}

} // namespace

void checkPrograms(const GraphData &graph,
                   const std::vector<ProgramPtr> &programs) {
  for (const ProgramPtr &program : programs) {
    forEachNode(graph, program, [&](const ProgramNode &node) {
      std::visit([&](const auto &op) { check(graph, node, op); }, node.op);
    });
  }
}

void checkTileMapping(const GraphData &graph,
                      const std::vector<ProgramPtr> &programs) {
  std::vector<bool> isUsed(graph.variables.size());
  for (const ProgramPtr &program : programs) {
    forEachView(graph, program, [&](const TensorView &view, bool) {
      for (const Piece &piece : view.pieces) {
        isUsed[piece.variable.index()] = true;
      }
    });
  }
  for (std::size_t v = 0; v < isUsed.size(); ++v) {
    if (!isUsed[v]) {
      continue;
    }
    const internal::Variable &variable = graph.variables[v];
    const std::int64_t unmapped =
        variable.mapping.firstUnmapped(variable.elements());
    support::requireUser<invalid_tile_mapping>(
        unmapped < 0,
        "Element {} of variable '{}' of shape {} is not mapped to a tile; call "
        "Graph::setTileMapping before compiling",
        unmapped, variable.debugPath, support::toString(variable.shape));
  }
}

} // namespace poplar::compiler
