// Rearrangements and B-splines for the conformance tests.
#include "Libraries.hpp"

#include <popops/Rearrange.hpp>
#include <popops/SplineBasis.hpp>
#include <popops/SplineWeighting.hpp>
#include <popops/codelets.hpp>

namespace conformance {
namespace {

using poplar::Tensor;

void partialTranspose(Call &call) {
  popops::addCodelets(call.graph());
  const auto set = call.graph().addComputeSet();
  call.output("out", popops::rearrange::partialTranspose(
                         call.graph(), call.tensor("in"), set));
  call.program().add(poplar::program::Execute(set));
}

void regroup(Call &call) {
  auto &graph = call.graph();
  popops::addCodelets(graph);
  const auto set = graph.addComputeSet();
  const Tensor &in = call.tensor("in");
  const auto size = call.get<unsigned>("size", 1);
  const Tensor grouped = popops::rearrange::regroupTensor(
      graph, in, call.program(), set, {0, 1}, {1, size});
  call.output("out", popops::rearrange::regroupIfBeneficial(graph, grouped, in,
                                                            call.program()));
}

// Of a view whose groups are those of another dimension.
void regroupToSize(Call &call) {
  const Tensor in = call.tensor("in").transpose();
  const Tensor grouped = popops::rearrange::regroupIfBeneficial(
      call.graph(), in, call.get<unsigned>("size"), call.program());
  call.output("out", grouped.transpose());
}

void splineBasis(Call &call) {
  popops::addCodelets(call.graph());
  const auto [basis, index] = popops::splineBasis(
      call.graph(), call.tensor("pseudo"), call.tensor("kernelSize"),
      call.tensor("isOpen"), call.get<unsigned>("degree"), call.program(), "",
      call.options());
  call.output("basis", basis);
  call.output("index", index);
}

void splineWeighting(Call &call) {
  popops::addCodelets(call.graph());
  call.output("out", popops::splineWeighting(
                         call.graph(), call.tensor("x"), call.tensor("weight"),
                         call.tensor("basis"), call.tensor("index"),
                         call.program(), "", call.options()));
}

} // namespace

void addPopopsRearranging(Operations &operations) {
  operations["popops.partialTranspose"] = partialTranspose;
  operations["popops.regroup"] = regroup;
  operations["popops.regroupToSize"] = regroupToSize;
  operations["popops.splineBasis"] = splineBasis;
  operations["popops.splineWeighting"] = splineWeighting;
}

} // namespace conformance
