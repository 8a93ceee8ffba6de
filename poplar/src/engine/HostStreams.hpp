// The host's ends of data streams: circular buffers, fixed buffers and
// callbacks, by handle and replica.
//
// Transfers happen one at a time, in the program's order, on whichever thread
// of the engine gets to them; connecting happens between runs. No transfer
// allocates memory.
#pragma once

#include "engine/AlignedBuffer.hpp"
#include "engine/CallbackEnd.hpp"
#include "model/ProgramCounts.hpp"

#include <poplar/StreamCallback.hpp>
#include <poplar/internal/GraphData.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace poplar::internal {
class DeviceUse;
}

namespace poplar::engine {

class HostStreams {
public:
  explicit HostStreams(const internal::GraphData &graph,
                       bool isPrefetching = false);

  // Transfers use [begin, end) in turn and start again at its end; the position
  // is kept between runs. One step of a replicated stream is a transfer of each
  // replica, one after another.
  void connectBuffer(const std::string &handle, void *begin, void *end);
  // Every step uses the same buffer.
  void connectFixed(const std::string &handle, void *buffer);
  // One callback for the transfers of all replicas, in their order.
  void connectCallback(const std::string &handle,
                       StreamCallbackHandle callback);
  // Broadcast streams ask the callback of replica 0 alone.
  void connectCallback(const std::string &handle, unsigned replica,
                       StreamCallbackHandle callback);

  // Throws stream_connection_error, naming the streams that are not connected.
  void requireConnected(const std::vector<internal::StreamId> &streams) const;

  // One transfer of the stream's elements, packed. Of a broadcast stream,
  // replica 0 comes first in each step and the others are given the same.
  void receive(internal::StreamId stream, unsigned replica, std::byte *data);
  void send(internal::StreamId stream, unsigned replica, const std::byte *data);

  // The same, but for what lies in a connected buffer: the place of this
  // transfer, for the caller to copy from or to. Null when all is done.
  std::byte *beginReceive(internal::StreamId stream, unsigned replica,
                          std::byte *data);
  std::byte *beginSend(internal::StreamId stream, unsigned replica,
                       const std::byte *data);

  // Time in callbacks is not the device's; null: there is no device to ask.
  void setDevice(internal::DeviceUse *use) { use_ = use; }

  // Of all transfers that are under way at a time.
  std::uint64_t bufferBytes() const;

  std::size_t transferBytes(internal::StreamId stream) const {
    return streams_[stream.index()].bytes;
  }
  std::vector<std::string> handles() const;

  // Transfers to the device since the last call and, as the only part, those
  // that nothing was there for when they began: a callback was asked. Data in
  // a connected buffer is there. By handle; streams without any are left out.
  std::map<std::string, model::PartCounts> takeCounts();

private:
  // One replica's places in a circular buffer, `step` bytes apart.
  struct BufferEnd {
    std::byte *cursor = nullptr;
    std::byte *end = nullptr;
    std::size_t size = 0; // of the whole buffer
    std::size_t step = 0;
  };
  using End =
      std::variant<std::monostate, BufferEnd, std::shared_ptr<CallbackEnd>>;

  struct Stream {
    const internal::StreamData *data = nullptr;
    std::size_t bytes = 0;       // per transfer
    std::vector<End> ends;       // by replica
    AlignedBuffer replay;        // broadcast: what replica 0 was given last
    std::uint64_t transfers = 0; // received since takeCounts()
    std::uint64_t waits = 0;     // of them, not prefetched
  };

  Stream &find(const std::string &handle);
  // Replicas whose ends are used.
  static std::size_t endsUsed(const Stream &stream);
  std::shared_ptr<CallbackEnd> makeCallbackEnd(const Stream &stream,
                                               StreamCallbackHandle callback);
  static void replace(End &old, End end);
  static std::byte *advance(BufferEnd &end);
  // Whether the data was there.
  bool receiveFrom(End &end, std::size_t bytes, std::byte *data);

  bool isPrefetching_;
  internal::DeviceUse *use_ = nullptr;
  std::vector<Stream> streams_; // by id
  std::map<std::string, std::size_t> indexOf_;
};

} // namespace poplar::engine
