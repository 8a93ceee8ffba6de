#include <popops/TopK.hpp>

#include <popops/Sort.hpp>
#include <popops/internal/IndexingKinds.hpp>

#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

namespace popops {

using kernels::Attributes;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Sequence;
using poputil::poplibs_error;
using support::requireUser;

namespace {

Attributes topKAttributes(const TopKParams &params,
                          const std::string &payload) {
  // Any order is right where none is asked for.
  const bool isDescending = params.sortOrder == SortOrder::NONE
                                ? params.largest
                                : params.sortOrder == SortOrder::DESCENDING;
  return {{"k", std::int64_t{params.k}},
          {"largest", std::int64_t{params.largest}},
          {"order", isDescending ? "DESCENDING" : "ASCENDING"},
          {"payload", payload}};
}

void checkInput(const Graph &graph, const Tensor &t, const TopKParams &params) {
  poputil::internal::requireCodelets(graph, "popops",
                                     "popops::CompareAndSwapAtDistance");
  requireUser<poplibs_error>(
      t.rank() > 0 && params.k <= t.dim(t.rank() - 1),
      "[popops::topK] k is {}; the innermost dimension of shape {} has fewer "
      "elements",
      params.k, t.shapeToString());
}

// Seen with `dim` innermost.
Tensor rolled(const Tensor &t, unsigned dim) {
  requireUser<poplibs_error>(
      dim < t.rank(), "[popops::sort] dimension {} is not one of shape {}", dim,
      t.shapeToString());
  return t.dimRoll(dim, t.rank() - 1);
}

TopKParams wholeRow(const Tensor &rows) {
  return {static_cast<unsigned>(rows.dim(rows.rank() - 1)), false,
          SortOrder::ASCENDING};
}

} // namespace

std::ostream &operator<<(std::ostream &stream, const SortOrder &order) {
  return stream << (order == SortOrder::NONE        ? "none"
                    : order == SortOrder::ASCENDING ? "ascending"
                                                    : "descending");
}

std::ostream &operator<<(std::ostream &stream, const TopKParams &params) {
  return stream << "{k=" << params.k
                << ", largest=" << (params.largest ? "true" : "false")
                << ", sortOrder=" << params.sortOrder
                << ", stableSort=" << (params.stableSort ? "true" : "false")
                << "}";
}

Tensor createTopKInput(Graph &graph, const poplar::Type &type,
                       const std::vector<std::size_t> &shape,
                       const TopKParams &, const DebugContext &debugContext) {
  const auto input =
      graph.addVariable(type, shape, {debugContext, "topKInput"});
  poputil::mapTensorLinearly(graph, input);
  return input;
}

Tensor topK(Graph &graph, Sequence &prog, const Tensor &t,
            const TopKParams &params, const DebugContext &debugContext) {
  checkInput(graph, t, params);
  return internal::topK(graph, topKAttributes(params, "none"), {t}, prog,
                        {debugContext, "topK"}, {})
      .front();
}

std::pair<Tensor, Tensor> topKKeyValue(Graph &graph, Sequence &prog,
                                       const Tensor &keys, const Tensor &values,
                                       const TopKParams &params,
                                       const DebugContext &debugContext) {
  checkInput(graph, keys, params);
  requireUser<poplibs_error>(
      keys.shape() == values.shape(),
      "[popops::topKKeyValue] the keys have shape {} and the values {}; they "
      "must be the same",
      keys.shapeToString(), values.shapeToString());
  const auto results =
      internal::topK(graph, topKAttributes(params, "values"), {keys, values},
                     prog, {debugContext, "topKKeyValue"}, {});
  return {results[0], results[1]};
}

std::pair<Tensor, Tensor>
topKWithPermutation(Graph &graph, Sequence &prog, const Tensor &t,
                    const TopKParams &params,
                    const DebugContext &debugContext) {
  checkInput(graph, t, params);
  const auto results =
      internal::topK(graph, topKAttributes(params, "permutation"), {t}, prog,
                     {debugContext, "topKWithPermutation"}, {});
  return {results[0], results[1]};
}

Tensor sort(Graph &graph, const Tensor &t, unsigned dim, Sequence &prog,
            const DebugContext &debugContext) {
  const auto rows = rolled(t, dim);
  return topK(graph, prog, rows, wholeRow(rows), {debugContext, "sort"})
      .dimRoll(t.rank() - 1, dim);
}

void sortInPlace(Graph &graph, const Tensor &t, unsigned dim, Sequence &prog,
                 const DebugContext &debugContext) {
  prog.add(poplar::program::Copy(sort(graph, t, dim, prog, debugContext), t,
                                 false, debugContext));
}

Tensor sortKeyValue(Graph &graph, const Tensor &keys, const Tensor &values,
                    unsigned dim, Sequence &prog,
                    const DebugContext &debugContext) {
  const auto rows = rolled(keys, dim);
  return topKKeyValue(graph, prog, rows, rolled(values, dim), wholeRow(rows),
                      {debugContext, "sortKeyValue"})
      .second.dimRoll(keys.rank() - 1, dim);
}

void sortKeyValueInPlace(Graph &graph, const Tensor &keys, const Tensor &values,
                         unsigned dim, Sequence &prog,
                         const DebugContext &debugContext) {
  const auto keyRows = rolled(keys, dim);
  const auto valueRows = rolled(values, dim);
  const auto [sortedKeys, sortedValues] =
      topKKeyValue(graph, prog, keyRows, valueRows, wholeRow(keyRows),
                   {debugContext, "sortKeyValue"});
  prog.add(poplar::program::Copy(sortedKeys, keyRows, false, debugContext));
  prog.add(poplar::program::Copy(sortedValues, valueRows, false, debugContext));
}

} // namespace popops
