// Selection, sorting, encodings, checks and running sums for the conformance
// tests.
#include "Libraries.hpp"

#include <popops/AllTrue.hpp>
#include <popops/CircBuf.hpp>
#include <popops/Encoding.hpp>
#include <popops/GatherStatistics.hpp>
#include <popops/NaN.hpp>
#include <popops/NormaliseImage.hpp>
#include <popops/SelectScalarFromRows.hpp>
#include <popops/SequenceSlice.hpp>
#include <popops/Sort.hpp>
#include <popops/TopK.hpp>
#include <popops/UpdateScalarInRows.hpp>
#include <popops/codelets.hpp>
#include <popops/internal/IndexingKinds.hpp>

#include <poputil/TileMapping.hpp>

namespace conformance {
namespace {

popops::TopKParams topKParams(const Call &call) {
  static const std::map<std::string, popops::SortOrder> orders = {
      {"NONE", popops::SortOrder::NONE},
      {"ASCENDING", popops::SortOrder::ASCENDING},
      {"DESCENDING", popops::SortOrder::DESCENDING},
  };
  return {call.get<unsigned>("k"), call.get<bool>("largest"),
          orders.at(call.get<std::string>("order")), true};
}

void topK(Call &call) {
  call.output("out", popops::topK(call.graph(), call.program(),
                                  call.tensor("in"), topKParams(call)));
}

void topKWithPermutation(Call &call) {
  const auto [values, positions] = popops::topKWithPermutation(
      call.graph(), call.program(), call.tensor("in"), topKParams(call));
  call.output("out", values);
  call.output("positions", positions);
}

void topKKeyValue(Call &call) {
  const auto [keys, values] =
      popops::topKKeyValue(call.graph(), call.program(), call.tensor("in"),
                           call.tensor("values"), topKParams(call));
  call.output("out", keys);
  call.output("values", values);
}

void sort(Call &call) {
  call.output("out", popops::sort(call.graph(), call.tensor("in"),
                                  call.get<unsigned>("dim"), call.program()));
}

void sortInPlace(Call &call) {
  popops::sortInPlace(call.graph(), call.tensor("in"),
                      call.get<unsigned>("dim"), call.program());
  call.output("out", call.tensor("in"));
}

void sortKeyValue(Call &call) {
  call.output("out",
              popops::sortKeyValue(call.graph(), call.tensor("keys"),
                                   call.tensor("values"),
                                   call.get<unsigned>("dim"), call.program()));
}

void sortKeyValueInPlace(Call &call) {
  popops::sortKeyValueInPlace(call.graph(), call.tensor("keys"),
                              call.tensor("values"), call.get<unsigned>("dim"),
                              call.program());
  call.output("keys", call.tensor("keys"));
  call.output("values", call.tensor("values"));
}

void cumulate(Call &call) {
  const kernels::Attributes attributes{
      {"op", call.get<std::string>("op")},
      {"dim", call.get<std::int64_t>("dim")},
      {"exclusive", std::int64_t{call.get<bool>("exclusive", false)}},
      {"reverse", std::int64_t{call.get<bool>("reverse", false)}}};
  call.output("out", popops::internal::cumulate(call.graph(), attributes,
                                                {call.tensor("in")},
                                                call.program(), "cumulate", {})
                         .front());
}

void encodeOneHot(Call &call) {
  auto &graph = call.graph();
  const auto &indices = call.tensor("indices");
  const auto encoded =
      graph.addVariable(call.get<poplar::Type>("type"),
                        {indices.dim(0), call.get<std::size_t>("classes")});
  poputil::mapTensorLinearly(graph, encoded);
  if (call.hasTensor("on")) {
    popops::encodeOneHot(graph, indices, encoded, call.program(),
                         call.tensor("on"), call.tensor("off"));
  } else {
    popops::encodeOneHot(graph, indices, encoded, call.program());
  }
  call.output("out", encoded);
}

void iota(Call &call) {
  const auto &t = call.tensor("t");
  const auto start = call.get<std::int64_t>("start");
  if (call.get<bool>("isSigned", t.elementType() == poplar::INT)) {
    popops::iota(call.graph(), t, static_cast<int>(start), call.program());
  } else {
    popops::iota(call.graph(), t, static_cast<unsigned>(start), call.program());
  }
  call.output("out", t);
}

template <auto function> void oneTensor(Call &call) {
  call.output("out", function(call.graph(), call.tensor("in"), call.program(),
                              "check"));
}

void selectScalarFromRows(Call &call) {
  call.output("out", popops::selectScalarFromRows(
                         call.graph(), call.tensor("params"),
                         call.tensor("indices"), call.program()));
}

void updateScalarInRows(Call &call) {
  popops::updateScalarInRows(call.graph(), call.tensor("params"),
                             call.tensor("indices"), call.program());
  call.output("out", call.tensor("params"));
}

void histogram(Call &call) {
  call.output("out", popops::histogram(
                         call.graph(), call.tensor("in"), call.tensor("levels"),
                         call.get<bool>("absolute"), call.program(),
                         "histogram", call.options()));
}

void sequenceSlice(Call &call) {
  popops::sequenceSlice(call.graph(), call.tensor("in"), call.tensor("to"),
                        call.tensor("n"), call.tensor("inOffset"),
                        call.tensor("outOffset"), call.get<bool>("zeroUnused"),
                        call.program());
  call.output("out", call.tensor("to"));
}

void normaliseImage(Call &call) {
  call.output("out", popops::normaliseImage(
                         call.graph(), call.tensor("in"),
                         call.get<float>("scale"), call.tensor("offsets"),
                         call.tensor("scales"), call.program()));
}

// Adds the rows of "in" one after another, then looks back.
void circBuf(Call &call) {
  const auto &rows = call.tensor("in");
  popops::CircBuf buffer(call.graph(), rows.elementType(),
                         call.get<unsigned>("size"), {rows.dim(1)});
  for (std::size_t row = 0; row < rows.dim(0); ++row) {
    buffer.add(rows[row], call.program());
  }
  call.output("out", buffer.prev(call.get<unsigned>("back"), call.program()));
  call.output("index", buffer.getIndex());
}

template <Operation operation> void withCodelets(Call &call) {
  popops::addCodelets(call.graph());
  operation(call);
}

} // namespace

void addPopopsOrdering(Operations &operations) {
  operations["popops.topK"] = withCodelets<topK>;
  operations["popops.topKWithPermutation"] = withCodelets<topKWithPermutation>;
  operations["popops.topKKeyValue"] = withCodelets<topKKeyValue>;
  operations["popops.sort"] = withCodelets<sort>;
  operations["popops.sortInPlace"] = withCodelets<sortInPlace>;
  operations["popops.sortKeyValue"] = withCodelets<sortKeyValue>;
  operations["popops.sortKeyValueInPlace"] = withCodelets<sortKeyValueInPlace>;
  operations["popops.cumulate"] = withCodelets<cumulate>;
  operations["popops.encodeOneHot"] = withCodelets<encodeOneHot>;
  operations["popops.iota"] = withCodelets<iota>;
  operations["popops.hasNaN"] = withCodelets<oneTensor<popops::hasNaN>>;
  operations["popops.hasNaNOrInf"] =
      withCodelets<oneTensor<popops::hasNaNOrInf>>;
  operations["popops.allTrue"] = withCodelets<oneTensor<popops::allTrue>>;
  operations["popops.selectScalarFromRows"] =
      withCodelets<selectScalarFromRows>;
  operations["popops.updateScalarInRows"] = withCodelets<updateScalarInRows>;
  operations["popops.histogram"] = withCodelets<histogram>;
  operations["popops.sequenceSlice"] = withCodelets<sequenceSlice>;
  operations["popops.normaliseImage"] = withCodelets<normaliseImage>;
  operations["popops.CircBuf"] = withCodelets<circBuf>;
}

} // namespace conformance
