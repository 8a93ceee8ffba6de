// The host's ends of data streams: circular buffers, fixed buffers and
// callbacks, by handle.
#pragma once

#include <poplar/StreamCallback.hpp>
#include <poplar/internal/GraphData.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace poplar::engine {

class HostStreams {
public:
  explicit HostStreams(const internal::GraphData &graph);

  // Transfers use [begin, end) in turn and start again at its end; the position
  // is kept between runs.
  void connectBuffer(const std::string &handle, void *begin, void *end);
  // Every transfer uses the same buffer.
  void connectFixed(const std::string &handle, void *buffer);
  void connectCallback(const std::string &handle,
                       StreamCallbackHandle callback);

  // Throws stream_connection_error, naming the streams that are not connected.
  void requireConnected(const std::vector<internal::StreamId> &streams) const;

  // One transfer of the stream's elements, packed.
  void receive(internal::StreamId stream, std::byte *data);
  void send(internal::StreamId stream, const std::byte *data);

  std::size_t transferBytes(internal::StreamId stream) const {
    return ends_[stream.index()].bytes;
  }
  std::vector<std::string> handles() const;

private:
  struct End {
    std::size_t bytes = 0; // per transfer
    std::byte *begin = nullptr;
    std::byte *end = nullptr;
    std::byte *cursor = nullptr;
    std::optional<StreamCallbackHandle> callback;
    std::vector<std::byte> staging; // what a sending callback is shown
  };

  End &find(const std::string &handle);
  static std::byte *advance(End &end);

  const internal::GraphData &graph_;
  std::vector<End> ends_; // by stream id
};

} // namespace poplar::engine
