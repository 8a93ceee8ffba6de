// Plans of lookups as users hold them.
#include <popops/DynamicSlice.hpp>

#include <popops/internal/SlicePlan.hpp>

#include <poplar/internal/Access.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <tuple>

namespace popops {

using internal::EmbeddingPlan;
using internal::SlicePlanAccess;

namespace {

std::strong_ordering compare(const SlicePlan &a, const SlicePlan &b) {
  const auto *first = SlicePlanAccess::get(a);
  const auto *second = SlicePlanAccess::get(b);
  if (first == nullptr || second == nullptr) {
    return (first != nullptr) <=> (second != nullptr);
  }
  return *first <=> *second;
}

} // namespace

bool operator<(const SlicePlan &a, const SlicePlan &b) {
  return compare(a, b) < 0;
}

bool operator==(const SlicePlan &a, const SlicePlan &b) {
  return compare(a, b) == 0;
}

std::ostream &operator<<(std::ostream &stream, const SlicePlan &plan) {
  const auto *planned = SlicePlanAccess::get(plan);
  if (planned == nullptr) {
    return stream << "SlicePlan{}";
  }
  return stream << "SlicePlan{groupSplit=" << planned->groupSplit
                << ", slicedDimSplit=" << planned->entrySplit
                << ", unslicedDimSplit=" << planned->elementSplit
                << ", lookupParallelSplit=" << planned->lookupSplit << "}";
}

namespace embedding {

SlicePlan plan(const poplar::Graph &graph, const poplar::Type &dataType,
               std::size_t groupSize, std::size_t numEntries,
               std::size_t outputSize,
               const std::vector<std::size_t> &numLookups,
               const poplar::OptionFlags &options) {
  const auto parsed = internal::parseSliceOptions(options);
  support::requireUser<poputil::poplibs_error>(
      parsed.usedForSlice || parsed.usedForUpdate,
      "[popops::embedding::plan] usedForSlice and usedForUpdate are both "
      "false; one of them must be true");
  const auto most = numLookups.empty() ? 1
                                       : *std::max_element(numLookups.begin(),
                                                           numLookups.end());
  return SlicePlanAccess::make(
      internal::planLookups(graph,
                            {poplar::internal::toDataType(dataType), groupSize,
                             numEntries, outputSize, most},
                            parsed));
}

SlicePlan plan(const poplar::Graph &graph, const poplar::Type &dataType,
               std::size_t numEntries, std::size_t outputSize,
               const std::vector<std::size_t> &numLookups,
               const poplar::OptionFlags &options) {
  return plan(graph, dataType, 1, numEntries, outputSize, numLookups, options);
}

std::vector<SlicePlan>
planMultiple(const std::vector<SlicePlanningParameters> &parameters) {
  std::vector<SlicePlan> plans;
  plans.reserve(parameters.size());
  for (const auto &each : parameters) {
    plans.push_back(plan(each.graph, each.dataType, each.groupSize,
                         each.numEntries, each.outputSize, each.numLookups,
                         each.optionFlags));
  }
  return plans;
}

} // namespace embedding

} // namespace popops
