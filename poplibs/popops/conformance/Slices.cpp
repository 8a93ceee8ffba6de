// Slices, lookups, gathers and scatters for the conformance tests.
#include "Libraries.hpp"

#include <popops/DynamicSlice.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Gather.hpp>
#include <popops/Scatter.hpp>
#include <popops/codelets.hpp>

namespace conformance {
namespace {

using Shape = std::vector<std::size_t>;

void dynamicSlice(Call &call) {
  call.output("out", popops::dynamicSlice(
                         call.graph(), call.tensor("t"), call.tensor("offset"),
                         call.get<Shape>("dims"), call.get<Shape>("sizes"),
                         call.program(), "slice", call.options()));
}

// Of a tensor made for it, into one made for the result.
void dynamicSliceWithOutput(Call &call) {
  const auto &t = call.tensor("t");
  const auto dims = call.get<Shape>("dims");
  const auto sizes = call.get<Shape>("sizes");
  auto &graph = call.graph();
  const auto sliceable = popops::createSliceableTensor(graph, t.elementType(),
                                                       t.shape(), dims, sizes);
  call.program().add(poplar::program::Copy(t, sliceable));
  const auto output = popops::createDynamicSliceOutput(
      graph, sliceable, call.tensor("offset"), dims, sizes);
  popops::dynamicSliceWithOutput(graph, output, sliceable,
                                 call.tensor("offset"), dims, sizes,
                                 call.program(), "slice", call.options());
  call.output("out", output);
}

void dynamicUpdate(Call &call) {
  popops::dynamicUpdate(call.graph(), call.tensor("t"), call.tensor("s"),
                        call.tensor("offset"), call.get<Shape>("dims"),
                        call.get<Shape>("sizes"), call.program(), "update",
                        call.options());
  call.output("out", call.tensor("t"));
}

// What the row's `planned` says of the table.
popops::SlicePlan planOf(Call &call) {
  const auto &t = call.tensor("t");
  if (!call.get<bool>("planned", false)) {
    return {};
  }
  return popops::embedding::plan(call.graph(), t.elementType(), t.dim(0),
                                 t.dim(1), {call.tensor("offsets").dim(0)}, {});
}

template <bool isGrouped> void multiSlice(Call &call) {
  constexpr auto function =
      isGrouped ? popops::groupedMultiSlice
                : static_cast<decltype(&popops::groupedMultiSlice)>(
                      popops::multiSlice);
  call.output("out",
              function(call.graph(), call.tensor("t"), call.tensor("offsets"),
                       call.get<Shape>("dims", {0}),
                       call.get<Shape>("sizes", {1}), call.program(),
                       planOf(call), call.options(), "lookup"));
}

template <auto function> void multiUpdate(Call &call) {
  function(call.graph(), call.tensor("t"), call.tensor("s"),
           call.tensor("offsets"), call.get<Shape>("dims", {0}),
           call.get<Shape>("sizes", {1}), call.program(), planOf(call),
           call.options(), "update");
  call.output("out", call.tensor("t"));
}

using UpdateAdd = decltype(&popops::groupedMultiUpdateAdd);

template <UpdateAdd function> void multiUpdateAdd(Call &call) {
  function(call.graph(), call.tensor("t"), call.tensor("s"),
           call.tensor("offsets"), call.tensor("scale"),
           call.get<Shape>("dims", {0}), call.get<Shape>("sizes", {1}),
           call.program(), planOf(call), call.options(), "update");
  call.output("out", call.tensor("t"));
}

void multiSliceStatic(Call &call) {
  const auto offsets = call.get<std::vector<unsigned>>("offsets");
  call.output("out",
              popops::multiSlice(call.graph(), call.tensor("t"),
                                 poplar::ArrayRef<unsigned>(offsets),
                                 call.get<std::size_t>("dim"), call.program()));
}

void multiUpdateAddStatic(Call &call) {
  const auto offsets = call.get<std::vector<unsigned>>("offsets");
  popops::multiUpdateAdd(call.graph(), call.tensor("t"), call.tensor("s"),
                         poplar::ArrayRef<unsigned>(offsets),
                         call.tensor("scale"), call.get<std::size_t>("dim"),
                         call.program());
  call.output("out", call.tensor("t"));
}

void gatherAxis(Call &call) {
  call.output("out",
              popops::gather(call.graph(), call.tensor("in"),
                             call.tensor("indices"), call.get<unsigned>("axis"),
                             call.program(), popops::GatherParams()));
}

void gather(Call &call) {
  call.output("out",
              popops::gather(
                  call.graph(), call.tensor("in"), call.tensor("indices"),
                  call.get<std::size_t>("indexVectorDim"),
                  call.get<Shape>("offsetDims"), call.get<Shape>("sliceSizes"),
                  call.get<Shape>("collapsedSliceDims"),
                  call.get<std::vector<unsigned>>("startIndexMap"),
                  call.program()));
}

// With the computation of the row's `compute`, "add", or none.
void scatter(Call &call) {
  popops::UpdateComputationFunc add =
      [](poplar::Graph &graph, poplar::Tensor &old, poplar::Tensor &update,
         poplar::program::Sequence &prog) {
        return popops::add(graph, old, update, prog);
      };
  const auto windowDims = call.get<std::vector<unsigned>>("updateWindowDims");
  const auto inserted = call.get<Shape>("insertWindowDims");
  const auto scattered =
      call.get<std::vector<unsigned>>("scatterDimsToOperandDims");
  const auto vectorDim = call.get<std::size_t>("indexVectorDim");
  if (call.get<std::string>("compute", "") == "add") {
    popops::scatter(call.graph(), call.tensor("operand"),
                    call.tensor("indices"), call.tensor("updates"), vectorDim,
                    windowDims, inserted, scattered, add, call.program());
  } else {
    popops::scatter(call.graph(), call.tensor("operand"),
                    call.tensor("indices"), call.tensor("updates"), vectorDim,
                    windowDims, inserted, scattered, call.program());
  }
  call.output("out", call.tensor("operand"));
}

template <Operation operation> void withCodelets(Call &call) {
  popops::addCodelets(call.graph());
  operation(call);
}

} // namespace

void addPopopsSlices(Operations &operations) {
  operations["popops.dynamicSlice"] = withCodelets<dynamicSlice>;
  operations["popops.dynamicSlice (no codelets)"] = dynamicSlice;
  operations["popops.dynamicSliceWithOutput"] =
      withCodelets<dynamicSliceWithOutput>;
  operations["popops.dynamicUpdate"] = withCodelets<dynamicUpdate>;
  operations["popops.multiSlice"] = withCodelets<multiSlice<false>>;
  operations["popops.groupedMultiSlice"] = withCodelets<multiSlice<true>>;
  operations["popops.multiSlice (static)"] = withCodelets<multiSliceStatic>;
  operations["popops.multiUpdate"] =
      withCodelets<multiUpdate<popops::multiUpdate>>;
  operations["popops.groupedMultiUpdate"] =
      withCodelets<multiUpdate<popops::groupedMultiUpdate>>;
  operations["popops.multiUpdateMax"] =
      withCodelets<multiUpdate<popops::multiUpdateMax>>;
  operations["popops.groupedMultiUpdateMax"] =
      withCodelets<multiUpdate<popops::groupedMultiUpdateMax>>;
  operations["popops.multiUpdateMul"] =
      withCodelets<multiUpdate<popops::multiUpdateMul>>;
  operations["popops.groupedMultiUpdateMul"] =
      withCodelets<multiUpdate<popops::groupedMultiUpdateMul>>;
  operations["popops.multiUpdateAdd"] =
      withCodelets<multiUpdateAdd<popops::multiUpdateAdd>>;
  operations["popops.groupedMultiUpdateAdd"] =
      withCodelets<multiUpdateAdd<popops::groupedMultiUpdateAdd>>;
  operations["popops.multiUpdateAdd (static)"] =
      withCodelets<multiUpdateAddStatic>;
  operations["popops.gather (axis)"] = withCodelets<gatherAxis>;
  operations["popops.gather"] = withCodelets<gather>;
  operations["popops.scatter"] = withCodelets<scatter>;
}

} // namespace conformance
