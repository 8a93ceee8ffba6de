// How lookups are cut over tiles (section 7.11), the options that slices take,
// and the supersteps that both make.
#pragma once

#include <popops/DynamicSlice.hpp>

#include <kernels/cost/Slice.hpp>
#include <poplar/internal/VertexGroup.hpp>
#include <poputil/internal/Tiles.hpp>

#include <compare>
#include <optional>
#include <string>
#include <vector>

namespace popops::internal {

struct SliceOptions {
  bool remapOutOfBoundIndices = false;
  bool validateIndices = false;
  bool usedForSlice = true;
  bool usedForUpdate = true;
  double availableMemoryProportion = 0.6;
};
// Throws poplar::invalid_option for a name or value that is not documented.
SliceOptions parseSliceOptions(const poplar::OptionFlags &options);

// Rows looked up in tables: `groups` tables of `entries` rows.
struct LookupWork {
  support::DataType type = support::DataType::Float;
  std::uint64_t groups = 1;
  std::uint64_t entries = 1;
  std::uint64_t rowElements = 1;
  std::uint64_t lookups = 1; // in each table

  friend auto operator<=>(const LookupWork &, const LookupWork &) = default;
};

// Into how many parts each dimension of the work is cut; the tiles used are
// their product.
struct EmbeddingPlan {
  LookupWork work;
  std::uint64_t groupSplit = 1;
  std::uint64_t entrySplit = 1;   // slicedDimSplit
  std::uint64_t elementSplit = 1; // unslicedDimSplit
  std::uint64_t lookupSplit = 1;  // lookupParallelSplit

  std::uint64_t tiles() const {
    return groupSplit * entrySplit * elementSplit * lookupSplit;
  }
  // What the fullest tile has.
  std::uint64_t elementsPerTile() const; // of a row
  std::uint64_t entriesPerTile() const;
  kernels::cost::LookupShare share() const;

  friend auto operator<=>(const EmbeddingPlan &,
                          const EmbeddingPlan &) = default;
};

struct SlicePlanAccess {
  // Null: no plan.
  static const EmbeddingPlan *get(const SlicePlan &plan) {
    return plan.data_.get();
  }
  static SlicePlan make(const EmbeddingPlan &plan);
};

// The cheapest plan within the memory that the options allow.
EmbeddingPlan planLookups(const poplar::Graph &graph, const LookupWork &work,
                          const SliceOptions &options);
// The plan of a lookup, or of an update, that was given none; made once in a
// graph.
EmbeddingPlan ownPlan(poplar::Graph &graph, const LookupWork &work,
                      bool isUpdate);

enum class LookupUse { Slice, Update, UpdateScaledAdd, UpdateOther };

// The supersteps of a planned lookup on the tiles from `firstTile`.
std::vector<poplar::internal::GroupPhase>
lookupPhases(const poplar::Graph &graph, const EmbeddingPlan &plan,
             LookupUse use, unsigned firstTile);

// The supersteps of one slice of `t`, or of its update: one for each sliced
// dimension, those that shrink the tensor most first. `dims` are t's.
std::vector<poplar::internal::GroupPhase>
slicePhases(const poplar::Graph &graph, const poplar::Tensor &t,
            const poplar::Tensor &slice, const std::vector<std::size_t> &dims,
            const std::vector<std::size_t> &sizes, bool isUpdate);

} // namespace popops::internal
