// Element-wise operations, reductions and casts for the conformance tests.
#include "Libraries.hpp"

#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <popops/codelets.hpp>

#include <stdexcept>

namespace conformance {
namespace {

popops::Operation reduction(const std::string &name) {
  using enum popops::Operation;
  static const std::map<std::string, popops::Operation> operations = {
      {"ADD", ADD},
      {"MUL", MUL},
      {"MIN", MIN},
      {"MAX", MAX},
      {"SQUARE_ADD", SQUARE_ADD},
  };
  return operations.at(name);
}

void add(Call &call) {
  call.output("out", popops::add(call.graph(), call.tensor("a"),
                                 call.tensor("b"), call.program()));
}

void cast(Call &call) {
  call.output("out",
              popops::cast(call.graph(), call.tensor("in"),
                           call.get<poplar::Type>("type"), call.program()));
}

void reduce(Call &call) {
  call.output("out", popops::reduce(call.graph(), call.tensor("in"),
                                    call.get<std::vector<std::size_t>>("dims"),
                                    reduction(call.get<std::string>("op")),
                                    call.program()));
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
  operations["popops.reduce"] = withCodelets<reduce>;
}

} // namespace conformance
