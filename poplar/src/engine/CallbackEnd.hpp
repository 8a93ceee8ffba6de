// A callback at the host's end of a stream, with what it delivered ahead of
// need.
#pragma once

#include "engine/AlignedBuffer.hpp"

#include <poplar/StreamCallback.hpp>

#include <cstddef>

namespace poplar::engine {

class CallbackEnd {
public:
  // `bytes` of a transfer; `depth` is how many transfers may be prefetched.
  CallbackEnd(StreamCallbackHandle callback, std::size_t bytes, unsigned depth);

  // Host to device: the oldest prefetched transfer, or a fetched one. Then asks
  // for as many transfers ahead as there is room for, until the callback has
  // none; they stay for the next run. Whether it was prefetched.
  bool receive(std::byte *data);

  // Device to host. The callback is shown a copy: its pointer is not const, and
  // must not reach the program's own memory.
  void send(const std::byte *data);

  // Drops what was prefetched, and says so to the callback.
  void invalidate();

private:
  std::byte *buffer(unsigned index) const;

  StreamCallbackHandle callback_;
  std::size_t bytes_;
  std::size_t stride_; // from buffer to buffer
  unsigned depth_;
  unsigned first_ = 0; // the oldest prefetched
  unsigned count_ = 0; // prefetched and not used yet
  AlignedBuffer buffers_;
};

} // namespace poplar::engine
