// The supersteps of lookups: many rows by their indices.
#include <popops/internal/SlicePlan.hpp>

#include <kernels/cost/Cast.hpp>
#include <kernels/cost/Reduction.hpp>
#include <poplar/internal/Access.hpp>
#include <poputil/internal/Phases.hpp>

namespace popops::internal {

using kernels::cost::ceilDiv;
using poplar::internal::GroupPhase;
using poputil::internal::PhaseBuilder;
using poputil::internal::supervisorVertex;
using poputil::internal::TileRange;
using poputil::internal::vertexName;

namespace {

constexpr std::uint64_t indexBytes = 4;

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
  phase.addTemporary(tiles, share.lookups * rowBytes);
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
  phase.addTemporary(tiles, table * size);
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
  if (!isUpdate && plan.entrySplit > 1) {
    phase.addTemporary(tiles, share.lookups * rowBytes); // candidates
  } else if (isUpdate && plan.lookupSplit > 1) {
    phase.addTemporary(tiles, plan.entriesPerTile() * rowBytes); // partials
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

} // namespace popops::internal
