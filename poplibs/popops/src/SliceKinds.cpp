// "dynamicSlice" and "dynamicUpdate" as whole kinds.
#include <popops/internal/IndexingKinds.hpp>
#include <popops/internal/SliceMapping.hpp>

#include <poputil/internal/Emit.hpp>

#include <algorithm>

namespace popops::internal {

using kernels::Attributes;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::internal::GroupPhase;
using poplar::program::Sequence;

namespace {

std::vector<std::size_t> sizesOf(const Attributes &attributes) {
  const auto &sizes = attributes.getInts("sizes");
  return {sizes.begin(), sizes.end()};
}

// Counting the groups.
std::vector<std::size_t> dimsOf(const Attributes &attributes) {
  std::vector<std::size_t> dims;
  for (const auto dim : attributes.getInts("dims")) {
    dims.push_back(static_cast<std::size_t>(dim) + 1);
  }
  return dims;
}

LookupWork workOf(const Tensor &t, const Tensor &offsets,
                  const Attributes &attributes) {
  std::uint64_t entries = 1;
  for (const auto dim : dimsOf(attributes)) {
    entries *= t.dim(static_cast<unsigned>(dim));
  }
  const std::uint64_t groups = t.dim(0);
  LookupWork work{poputil::internal::tensorType(t).type, groups, entries, 1,
                  offsets.dim(1)};
  for (const auto size : sizesOf(attributes)) {
    work.rowElements *= size; // of one lookup
  }
  const auto all = groups * entries;
  work.rowElements *= all == 0 ? 1 : t.numElements() / all;
  return work;
}

std::vector<GroupPhase> planPhases(Graph &graph, const Attributes &attributes,
                                   const Tensor &t, const Tensor &slices,
                                   const Tensor &offsets,
                                   const EmbeddingPlan *plan, LookupUse use) {
  if (t.numElements() == 0 || slices.numElements() == 0) {
    return {};
  }
  const bool isSingle = offsets.dim(1) == 1 && plan == nullptr;
  if (isSingle && use <= LookupUse::Update) {
    return slicePhases(graph, t, slices, dimsOf(attributes),
                       sizesOf(attributes), use == LookupUse::Update);
  }
  const auto work = workOf(t, offsets, attributes);
  auto planned =
      plan == nullptr ? ownPlan(graph, work, use != LookupUse::Slice) : *plan;
  planned.work.lookups = work.lookups; // a plan serves other counts, too
  return lookupPhases(graph, planned, use,
                      poputil::internal::tilesOf(graph, t).first);
}

// Results of lookups lie as the rows of the table do.
Tensor addSlices(Graph &graph, const Attributes &attributes, const Tensor &t,
                 const Tensor &offsets, const EmbeddingPlan *plan,
                 const DebugContext &debugContext) {
  const auto type =
      poputil::internal::inferOutputs("dynamicSlice", attributes, {t, offsets})
          .front();
  if (offsets.dim(1) == 1 && plan == nullptr) {
    const auto slice = addSliceVariable(graph, t, dimsOf(attributes),
                                        sizesOf(attributes), debugContext);
    return slice.reshape(
        std::vector<std::size_t>(type.shape.begin(), type.shape.end()));
  }
  return poputil::internal::addLinearVariable(
      graph, type, poputil::internal::tilesOf(graph, t), debugContext);
}

LookupUse useOf(const Attributes &attributes) {
  const auto &op = attributes.getString("op");
  return op == "COPY"                       ? LookupUse::Update
         : attributes.getInt("scaled") != 0 ? LookupUse::UpdateScaledAdd
                                            : LookupUse::UpdateOther;
}

} // namespace

Tensor emitSlices(Graph &graph, const Attributes &attributes, const Tensor &t,
                  const Tensor &offsets, Tensor slices,
                  const EmbeddingPlan *plan, Sequence &program,
                  const DebugContext &debugContext) {
  if (!slices.valid()) {
    slices =
        addSlices(graph, attributes, t, offsets, plan, {debugContext, "out"});
  }
  poputil::internal::emit(graph, program,
                          {"dynamicSlice",
                           attributes,
                           {t, offsets},
                           {slices},
                           planPhases(graph, attributes, t, slices, offsets,
                                      plan, LookupUse::Slice)},
                          debugContext);
  return slices;
}

void emitUpdates(Graph &graph, const Attributes &attributes,
                 const std::vector<Tensor> &inputs, const EmbeddingPlan *plan,
                 Sequence &program, const DebugContext &debugContext) {
  poputil::internal::inferOutputs("dynamicUpdate", attributes, inputs);
  if (inputs[1].numElements() == 0) {
    return;
  }
  poputil::internal::emit(graph, program,
                          {"dynamicUpdate",
                           attributes,
                           inputs,
                           {inputs[0]},
                           planPhases(graph, attributes, inputs[0], inputs[1],
                                      inputs[2], plan, useOf(attributes))},
                          debugContext);
}

std::vector<Tensor> dynamicSlice(Graph &graph, const Attributes &attributes,
                                 const std::vector<Tensor> &inputs,
                                 Sequence &program,
                                 const DebugContext &debugContext,
                                 const poplar::OptionFlags &) {
  return {emitSlices(graph, attributes, inputs[0], inputs[1], {}, nullptr,
                     program, debugContext)};
}

std::vector<Tensor> dynamicUpdate(Graph &graph, const Attributes &attributes,
                                  const std::vector<Tensor> &inputs,
                                  Sequence &program,
                                  const DebugContext &debugContext,
                                  const poplar::OptionFlags &) {
  emitUpdates(graph, attributes, inputs, nullptr, program, debugContext);
  return {inputs[0]};
}

} // namespace popops::internal
