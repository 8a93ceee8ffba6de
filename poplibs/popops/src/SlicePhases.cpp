// The supersteps of slices, updates and lookups.
#include <popops/internal/SlicePlan.hpp>

#include <kernels/cost/Cast.hpp>
#include <kernels/cost/Reduction.hpp>
#include <poplar/internal/Access.hpp>
#include <poputil/internal/Phases.hpp>

#include <algorithm>
#include <numeric>

namespace popops::internal {

using kernels::cost::ceilDiv;
using poplar::internal::GroupPhase;
using poputil::internal::PhaseBuilder;
using poputil::internal::supervisorVertex;
using poputil::internal::TileRange;
using poputil::internal::TileShare;
using poputil::internal::vertexName;

namespace {

constexpr std::uint64_t indexBytes = 4;

// Whether each tile holds all that its part of the slice can come from: the
// tensor was made to be sliced.
bool isSpreadAlike(const std::vector<TileShare> &tensor,
                   const std::vector<TileShare> &slice) {
  return tensor.size() == slice.size() &&
         std::equal(tensor.begin(), tensor.end(), slice.begin(),
                    [](const TileShare &a, const TileShare &b) {
                      return a.tiles == b.tiles;
                    });
}

std::string updateName(LookupUse use, support::DataType type) {
  switch (use) {
  case LookupUse::Slice:
    return vertexName("popops::MultiSlice", {type});
  case LookupUse::Update:
    return vertexName("popops::MultiUpdate", {type});
  case LookupUse::UpdateScaledAdd:
    return vertexName("popops::ScaledMultiUpdateOp", {type});
  case LookupUse::UpdateOther:
    break;
  }
  return vertexName("popops::MultiUpdateOp", {type});
}

kernels::cost::Cycles lookupCycles(const kernels::cost::TileSpec &tile,
                                   LookupUse use,
                                   const kernels::cost::LookupShare &share) {
  switch (use) {
  case LookupUse::Slice:
    return kernels::cost::multiSlice(tile, share);
  case LookupUse::Update:
    return kernels::cost::multiSlice(tile, share, true);
  case LookupUse::UpdateScaledAdd:
  case LookupUse::UpdateOther:
    break;
  }
  return kernels::cost::multiUpdateOp(tile, share,
                                      use == LookupUse::UpdateScaledAdd);
}

// A second lookup among the parts of the table, each of which has a candidate
// for every row.
GroupPhase chooseAmongParts(const kernels::cost::TileSpec &tile,
                            const EmbeddingPlan &plan, TileRange tiles) {
  auto share = plan.share();
  const auto rowBytes = share.elements * support::sizeOf(share.type);
  PhaseBuilder phase("Stage2");
  phase.send(tiles, share.lookups * rowBytes);
  share.lookups = ceilDiv(share.lookups, plan.entrySplit);
  share.inRange = share.lookups;
  phase.receive(tiles, plan.entrySplit * share.lookups * rowBytes,
                plan.entrySplit);
  phase.addVertex(tiles,
                  supervisorVertex(updateName(LookupUse::Slice, share.type),
                                   kernels::cost::multiSlice(tile, share), 3));
  return phase.build();
}

// The partial tables of the parts of the indices, added up into the table.
GroupPhase addPartialTables(const kernels::cost::TileSpec &tile,
                            const EmbeddingPlan &plan, TileRange tiles) {
  const auto share = plan.share();
  const auto size = support::sizeOf(share.type);
  const auto table = plan.entriesPerTile() * share.elements;
  const auto outputs = ceilDiv(table, plan.lookupSplit);
  PhaseBuilder phase("Reduce");
  phase.send(tiles, table * size);
  phase.receive(tiles, table * size, plan.lookupSplit);
  phase.addVertex(
      tiles, poputil::internal::workerVertices(
                 vertexName("popops::StridedReduce", {share.type, share.type}),
                 tile.workers,
                 kernels::cost::reduceStrided(tile, share.type, share.type,
                                              perWorker(tile, outputs),
                                              plan.lookupSplit, true),
                 2, perWorker(tile, outputs) * plan.lookupSplit));
  phase.addVertex(
      tiles,
      supervisorVertex(vertexName("popops::ScaledAddSupervisor", {share.type}),
                       kernels::cost::scaledAdd(tile, share.type, share.type,
                                                outputs, false, false),
                       2, outputs));
  return phase.build();
}

} // namespace

std::vector<GroupPhase> lookupPhases(const poplar::Graph &graph,
                                     const EmbeddingPlan &plan, LookupUse use,
                                     unsigned firstTile) {
  const auto tile = poputil::internal::tileSpec(graph);
  const TileRange tiles{firstTile, static_cast<unsigned>(plan.tiles())};
  const auto share = plan.share();
  const auto rowBytes = share.elements * support::sizeOf(share.type);
  const bool isUpdate = use != LookupUse::Slice;
  const auto arriving =
      share.lookups * (indexBytes + (isUpdate ? rowBytes : 0));
  PhaseBuilder phase(isUpdate ? "MultiUpdate" : "MultiSlice");
  phase.receive(tiles, arriving, 1, plan.lookupSplit == 1 && !isUpdate);
  // Indices are sent once, to every tile that listens.
  phase.send(tiles, ceilDiv(plan.work.lookups * plan.work.groups * indexBytes,
                            plan.tiles()));
  if (isUpdate) {
    phase.send(tiles,
               ceilDiv(plan.work.lookups * plan.work.groups *
                           plan.work.rowElements * support::sizeOf(share.type),
                       plan.tiles()));
  } else if (plan.lookupSplit > 1) {
    const auto table = plan.entriesPerTile() * rowBytes;
    phase.receive(tiles, table);
    phase.send(tiles, ceilDiv(table, plan.lookupSplit));
  }
  phase.addVertex(tiles, supervisorVertex(
                             updateName(use, share.type),
                             lookupCycles(tile, use, share), 3,
                             use == LookupUse::Slice || use == LookupUse::Update
                                 ? 0
                                 : share.lookups * share.elements * 2));
  std::vector<GroupPhase> phases{phase.build()};
  if (!isUpdate && plan.entrySplit > 1) {
    phases.push_back(chooseAmongParts(tile, plan, tiles));
  }
  if (isUpdate && plan.lookupSplit > 1) {
    phases.push_back(addPartialTables(tile, plan, tiles));
  }
  return phases;
}

std::vector<GroupPhase>
slicePhases(const poplar::Graph &graph, const poplar::Tensor &t,
            const poplar::Tensor &slice, const std::vector<std::size_t> &dims,
            const std::vector<std::size_t> &sizes, bool isUpdate) {
  const auto tile = poputil::internal::tileSpec(graph);
  const auto type = poputil::internal::tensorType(t).type;
  const auto name = vertexName(isUpdate ? "popops::DynamicUpdateSlice1D"
                                        : "popops::DynamicSlice1D",
                               {type});
  std::vector<std::size_t> order(dims.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
    return sizes[a] * t.dim(static_cast<unsigned>(dims[b])) <
           sizes[b] * t.dim(static_cast<unsigned>(dims[a]));
  });
  const auto from = poputil::internal::sharesOf(graph, t);
  const auto shares = poputil::internal::sharesOf(graph, slice);
  const auto sliceElements = std::max<std::uint64_t>(slice.numElements(), 1);
  std::uint64_t elements = t.numElements(); // before each step
  std::vector<GroupPhase> phases;
  for (const auto j : order) {
    const std::uint64_t extent = t.dim(static_cast<unsigned>(dims[j]));
    const std::uint64_t size = sizes[j];
    PhaseBuilder phase("Slice_" + std::to_string(phases.size()));
    for (const auto &share : shares) {
      // This tile's part of what the step leaves.
      const auto kept = static_cast<std::uint64_t>(share.elements) *
                        (elements / std::max<std::uint64_t>(extent, 1)) * size /
                        sliceElements;
      const auto region = ceilDiv(kept, std::max<std::uint64_t>(size, 1));
      phase.receive(share.tiles, indexBytes, 1, true);
      if (phases.empty() && !isSpreadAlike(from, shares)) {
        phase.receive(share.tiles, region * extent * support::sizeOf(type));
      }
      phase.addVertex(
          share.tiles,
          supervisorVertex(
              name, kernels::cost::dynamicSlice1D(tile, type, region, size),
              3));
    }
    if (phases.empty() && !isSpreadAlike(from, shares)) {
      for (const auto &share : from) {
        phase.send(share.tiles, static_cast<std::uint64_t>(share.elements) *
                                    support::sizeOf(type));
      }
    }
    elements = elements / std::max<std::uint64_t>(extent, 1) * size;
    phases.push_back(phase.build());
  }
  return phases;
}

} // namespace popops::internal
