#include <popops/Scatter.hpp>

#include <popops/DynamicSlice.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Fill.hpp>
#include <popops/internal/IndexVectors.hpp>
#include <popops/internal/IndexingKinds.hpp>

#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace popops {

using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::program::Sequence;
using poputil::poplibs_error;
using support::requireUser;
using Shape = std::vector<std::size_t>;

namespace {

// Windows of the operand and what goes there.
struct Windows {
  Tensor starts;  // [windows, dims]
  Tensor updates; // [windows, window], of the operand's rank
  Shape dims;     // that the starts are for
  Shape sizes;    // of a window there
};

Windows makeWindows(const Tensor &operand, const Tensor &indices,
                    const Tensor &updates, std::size_t indexVectorDim,
                    const std::vector<unsigned> &updateWindowDims,
                    Shape insertWindowDims,
                    const std::vector<unsigned> &scatterDims) {
  requireUser<poplibs_error>(!scatterDims.empty(),
                             "[popops::scatter] scatterDimsToOperandDims is "
                             "empty; name a dimension of the operand");
  requireUser<poplibs_error>(
      updates.elementType() == operand.elementType(),
      "[popops::scatter] the updates have type {} and the operand {}; they "
      "must be the same",
      std::string(updates.elementType().toString()),
      std::string(operand.elementType().toString()));
  const auto vectors = internal::indexVectors(
      "scatter", indices, indexVectorDim, scatterDims.size());
  Windows windows;
  windows.starts = vectors.starts;
  auto slices = internal::windowsFirst(
      "scatter", updates, vectors.batch,
      {updateWindowDims.begin(), updateWindowDims.end()});
  std::sort(insertWindowDims.begin(), insertWindowDims.end());
  requireUser<poplibs_error>(
      updateWindowDims.size() + insertWindowDims.size() == operand.rank(),
      "[popops::scatter] windows have {} dimensions and {} inserted ones; the "
      "operand has {}",
      updateWindowDims.size(), insertWindowDims.size(), operand.rank());
  for (const auto dim : insertWindowDims) {
    requireUser<poplibs_error>(
        dim < operand.rank(),
        "[popops::scatter] inserted dimension {} is not one of shape {}", dim,
        operand.shapeToString());
    slices = slices.expand({dim + 1});
  }
  windows.updates = slices;
  for (const auto dim : scatterDims) {
    requireUser<poplibs_error>(
        dim < operand.rank(),
        "[popops::scatter] dimension {} is not one of shape {}", dim,
        operand.shapeToString());
    windows.dims.push_back(dim);
    windows.sizes.push_back(slices.dim(dim + 1));
  }
  return windows;
}

// The part of the operand that windows can reach: they begin at 0 where no
// start is given.
Tensor reachable(const Tensor &operand, const Windows &windows) {
  auto base = operand;
  for (unsigned d = 0; d < operand.rank(); ++d) {
    const auto extent = windows.updates.dim(d + 1);
    requireUser<poplibs_error>(
        extent <= operand.dim(d),
        "[popops::scatter] a window of {} does not fit dimension {} of shape "
        "{}",
        extent, d, operand.shapeToString());
    if (std::find(windows.dims.begin(), windows.dims.end(), d) ==
        windows.dims.end()) {
      base = base.slice(0, extent, d);
    }
  }
  return base;
}

kernels::Attributes attributesOf(const Windows &windows) {
  return {{"dims",
           kernels::Attributes::Ints(windows.dims.begin(), windows.dims.end())},
          {"sizes", kernels::Attributes::Ints(windows.sizes.begin(),
                                              windows.sizes.end())},
          {"outOfRange", "window"},
          {"op", "COPY"},
          {"scaled", std::int64_t{0}}};
}

} // namespace

void scatter(Graph &graph, const Tensor &operand, const Tensor &indices,
             const Tensor &updates, std::size_t indexVectorDim,
             std::vector<unsigned> updateWindowDims, Shape insertWindowDims,
             std::vector<unsigned> scatterDimsToOperandDims, Sequence &prog,
             const DebugContext &debugContext, const OptionFlags &options) {
  internal::parseSliceOptions(options);
  poputil::internal::requireCodelets(graph, "popops", "popops::MultiUpdate");
  const auto windows =
      makeWindows(operand, indices, updates, indexVectorDim, updateWindowDims,
                  insertWindowDims, scatterDimsToOperandDims);
  internal::emitUpdates(graph, attributesOf(windows),
                        {reachable(operand, windows).expand({0}),
                         windows.updates.expand({0}),
                         windows.starts.expand({0})},
                        nullptr, prog, {debugContext, "scatter"});
}

// One window after another, as the SDK does: the computation may be anything.
void scatter(Graph &graph, const Tensor &operand, const Tensor &indices,
             const Tensor &updates, std::size_t indexVectorDim,
             std::vector<unsigned> updateWindowDims, Shape insertWindowDims,
             std::vector<unsigned> scatterDimsToOperandDims,
             UpdateComputationFunc &updateComputation, Sequence &prog,
             const DebugContext &debugContext, const OptionFlags &options) {
  internal::parseSliceOptions(options);
  poputil::internal::requireCodelets(graph, "popops", "popops::MultiUpdate");
  const DebugContext context(debugContext, "scatter");
  const auto windows =
      makeWindows(operand, indices, updates, indexVectorDim, updateWindowDims,
                  insertWindowDims, scatterDimsToOperandDims);
  const auto base = reachable(operand, windows);
  const auto count = windows.starts.dim(0);
  if (count == 0) {
    return;
  }
  const auto counter =
      graph.addVariable(poplar::UNSIGNED_INT, {1}, {context, "window"});
  graph.setTileMapping(counter, 0);
  fill(graph, counter, prog, 0u, context);
  Sequence body;
  const auto pick = [&](const Tensor &from) {
    return dynamicSlice(graph, from, counter, {0}, {1}, body, context)[0];
  };
  const auto start = pick(windows.starts);
  auto update = pick(windows.updates);
  auto attributes = attributesOf(windows);
  attributes.set("missing", "zero");
  auto old = internal::emitSlices(graph, attributes, base.expand({0}),
                                  start.expand({0, 0}), {}, nullptr, body,
                                  {context, "Old"})[0][0];
  const auto value = updateComputation(graph, old, update, body);
  requireUser<poplibs_error>(
      value.shape() == update.shape() &&
          value.elementType() == operand.elementType(),
      "[popops::scatter] the computation made {} {} of windows of shape {}",
      std::string(value.elementType().toString()), value.shapeToString(),
      update.shapeToString());
  internal::emitUpdates(
      graph, attributesOf(windows),
      {base.expand({0}), value.expand({0, 0}), start.expand({0, 0})}, nullptr,
      body, {context, "New"});
  addInPlace(graph, counter, 1u, body, {context, "Next"});
  prog.add(
      poplar::program::Repeat(static_cast<unsigned>(count), body, context));
}

} // namespace popops
