// Everything of the host that a running program touches: the executors' only
// way out.
#pragma once

#include "engine/HostStreams.hpp"
#include "engine/RemoteBuffers.hpp"

#include <poplar/OptionFlags.hpp>
#include <poplar/PrintTensor.hpp>
#include <poplar/internal/GraphData.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>

namespace poplar::engine {

struct HostServices {
  // The graph must outlive it. `options` are the engine's, resolved.
  HostServices(const internal::GraphData &graph, const OptionFlags &options);

  // What PrintTensor writes of `view`, whose elements are given packed.
  void printTensor(const std::string &title, const internal::TensorView &view,
                   const std::byte *packed, const PrintTensorFmt &format,
                   unsigned replica = 0) const;

  // What streams and remote buffers take of the host's memory.
  std::uint64_t bufferBytes() const {
    return streams.bufferBytes() + remoteBuffers.bytes();
  }

  HostStreams streams;
  RemoteBuffers remoteBuffers;
  std::ostream *printStream;       // what codelets print
  std::ostream *printTensorStream; // what PrintTensor prints
  // Set by Engine::stop, from any thread: endless loops end at their next
  // iteration. Cleared when a run begins.
  std::atomic<bool> isStopping{false};

private:
  unsigned replicas_;
};

} // namespace poplar::engine
