#include "engine/HostServices.hpp"

#include "engine/EngineOptions.hpp"
#include "engine/PrintTensorText.hpp"

#include <fmt/core.h>

#include <iostream>

namespace poplar::engine {
namespace {

// A transfer asked for ahead of need must not share its buffer with the current
// one; `any` lets them overlap.
bool isPrefetching(const OptionFlags &options) {
  const auto overlap = options.find("exchange.streamBufferOverlap");
  return overlap != options.end() && overlap->second != "any" &&
         isEnabled(options, "exchange.enablePrefetch", true);
}

} // namespace

HostServices::HostServices(const internal::GraphData &graph,
                           const OptionFlags &options)
    : streams(graph, isPrefetching(options)), remoteBuffers(graph),
      printStream(&std::cerr), printTensorStream(&std::cerr),
      replicas_(graph.replicationFactor) {}

void HostServices::printTensor(const std::string &title,
                               const internal::TensorView &view,
                               const std::byte *packed,
                               const PrintTensorFmt &format,
                               unsigned replica) const {
  const std::string fullTitle =
      replicas_ == 1 ? title : fmt::format("{}[replica {}]", title, replica);
  *printTensorStream << formatTensor(fullTitle, view.type, view.shape, packed,
                                     format)
                     << std::endl;
}

} // namespace poplar::engine
