// Non-linearities for the conformance tests.
#include "Libraries.hpp"

#include <popnn/NonLinearity.hpp>
#include <popnn/codelets.hpp>

namespace conformance {
namespace {

void softmax(Call &call) {
  popnn::addCodelets(call.graph());
  call.output("out",
              popnn::softmax(call.graph(), call.tensor("in"), call.program()));
}

} // namespace

void addPopnnNonLinearity(Operations &operations) {
  operations["popnn.softmax"] = softmax;
}

} // namespace conformance
