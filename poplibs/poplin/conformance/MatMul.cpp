// Matrix products for the conformance tests.
#include "Libraries.hpp"

#include <poplin/MatMul.hpp>
#include <poplin/codelets.hpp>

namespace conformance {
namespace {

void matMul(Call &call) {
  poplin::addCodelets(call.graph());
  call.output("out",
              poplin::matMul(call.graph(), call.tensor("a"), call.tensor("b"),
                             call.program(), {}, call.options()));
}

} // namespace

void addPoplinMatMul(Operations &operations) {
  operations["poplin.matMul"] = matMul;
}

} // namespace conformance
