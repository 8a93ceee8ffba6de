// Poolings for the conformance tests.
#include "Libraries.hpp"

#include <popnn/Pooling.hpp>
#include <popnn/codelets.hpp>

namespace conformance {
namespace {

popnn::pooling::PoolParams paramsOf(Call &call) {
  using popnn::PoolingType;
  static const std::map<std::string, PoolingType> types = {
      {"MAX", PoolingType::MAX},
      {"AVG", PoolingType::AVG},
      {"SUM", PoolingType::SUM}};
  const auto shape = call.tensor("in").shape();
  return {types.at(call.get<std::string>("type")),
          {shape.begin() + 2, shape.end()},
          call.get<std::vector<std::size_t>>("kernel"),
          call.get<std::vector<unsigned>>("stride"),
          call.get<std::vector<int>>("lower"),
          call.get<std::vector<int>>("upper"),
          shape[1],
          shape[0],
          call.tensor("in").elementType()};
}

void pool(Call &call) {
  popnn::addCodelets(call.graph());
  call.output("out", popnn::pooling::pool(call.graph(), paramsOf(call),
                                          call.tensor("in"), call.program(),
                                          "pool", call.options()));
}

void poolInputGradient(Call &call) {
  popnn::addCodelets(call.graph());
  const auto params = paramsOf(call);
  const auto &in = call.tensor("in");
  const auto &gradient = call.tensor("pooledGrad");
  const auto pooled =
      popnn::pooling::pool(call.graph(), params, in, call.program());
  call.output("out", popnn::pooling::poolInputGradient(
                         call.graph(), params, in, pooled, gradient,
                         call.get<bool>("scaled", false), call.program(),
                         "poolGrad", call.options()));
  if (call.get<bool>("withoutInput", false)) {
    call.output("withoutInput",
                popnn::pooling::poolInputGradient(call.graph(), params, 1,
                                                  gradient, call.program()));
  }
}

} // namespace

void addPopnnPooling(Operations &operations) {
  operations["popnn.pool"] = pool;
  operations["popnn.poolInputGradient"] = poolInputGradient;
}

} // namespace conformance
