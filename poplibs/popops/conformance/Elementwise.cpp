// Element-wise operations and casts for the conformance tests.
#include "Libraries.hpp"

#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <popops/codelets.hpp>

namespace conformance {
namespace {

void add(Call &call) {
  call.output("out", popops::add(call.graph(), call.tensor("a"),
                                 call.tensor("b"), call.program()));
}

void cast(Call &call) {
  call.output("out",
              popops::cast(call.graph(), call.tensor("in"),
                           call.get<poplar::Type>("type"), call.program()));
}

// Every operation starts with the codelets, as every program does.
template <Operation operation> void withCodelets(Call &call) {
  popops::addCodelets(call.graph());
  operation(call);
}

} // namespace

void addPopopsElementwise(Operations &operations) {
  operations["popops.add"] = withCodelets<add>;
  operations["popops.cast"] = withCodelets<cast>;
}

} // namespace conformance
