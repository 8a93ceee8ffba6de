#include "engine/HostStreams.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <cstring>
#include <utility>

namespace poplar::engine {

HostStreams::HostStreams(const internal::GraphData &graph)
    : graph_(graph), ends_(graph.streams.size()) {
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    const internal::StreamData &stream = graph.streams[i];
    ends_[i].bytes = static_cast<std::size_t>(stream.elements) *
                     support::sizeOf(stream.type);
  }
}

HostStreams::End &HostStreams::find(const std::string &handle) {
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    if (graph_.streams[i].handle == handle) {
      return ends_[i];
    }
  }
  throw stream_connection_error(fmt::format(
      "[Engine::connectStream] there is no stream '{}' in the graph", handle));
}

void HostStreams::connectBuffer(const std::string &handle, void *begin,
                                void *end) {
  End &stream = find(handle);
  auto *first = static_cast<std::byte *>(begin);
  auto *last = static_cast<std::byte *>(end);
  const auto bytes = static_cast<std::size_t>(last - first);
  support::requireUser<stream_connection_error>(
      last >= first && bytes >= stream.bytes &&
          (stream.bytes == 0 || bytes % stream.bytes == 0),
      "[Engine::connectStream] the buffer of stream '{}' has {} bytes; it must "
      "hold a whole number of transfers of {} bytes",
      handle, last - first, stream.bytes);
  stream.begin = stream.cursor = first;
  stream.end = last;
  stream.callback.reset();
}

void HostStreams::connectFixed(const std::string &handle, void *buffer) {
  End &stream = find(handle);
  stream.begin = stream.cursor = static_cast<std::byte *>(buffer);
  stream.end = stream.begin + stream.bytes;
  stream.callback.reset();
}

void HostStreams::connectCallback(const std::string &handle,
                                  StreamCallbackHandle callback) {
  End &stream = find(handle);
  stream.callback = std::move(callback);
  stream.staging.resize(stream.bytes);
}

void HostStreams::requireConnected(
    const std::vector<internal::StreamId> &streams) const {
  std::string missing;
  for (internal::StreamId id : streams) {
    const End &end = ends_[id.index()];
    if (end.begin == nullptr && !end.callback) {
      missing += (missing.empty() ? "'" : ", '") +
                 graph_.streams[id.index()].handle + "'";
    }
  }
  support::requireUser<stream_connection_error>(
      missing.empty(),
      "[Engine::run] the program uses streams that are not connected: {}",
      missing);
}

std::byte *HostStreams::advance(End &end) {
  std::byte *at = end.cursor;
  end.cursor += end.bytes;
  if (end.cursor == end.end) {
    end.cursor = end.begin;
  }
  return at;
}

void HostStreams::receive(internal::StreamId stream, std::byte *data) {
  End &end = ends_[stream.index()];
  if (end.callback) {
    (*end.callback)->fetch(data);
    (*end.callback)->complete();
  } else {
    std::memcpy(data, advance(end), end.bytes);
  }
}

void HostStreams::send(internal::StreamId stream, const std::byte *data) {
  End &end = ends_[stream.index()];
  if (end.callback) {
    // The callback's pointer is not const: it must not reach the program's own
    // memory.
    std::memcpy(end.staging.data(), data, end.bytes);
    (*end.callback)->fetch(end.staging.data());
    (*end.callback)->complete();
  } else {
    std::memcpy(advance(end), data, end.bytes);
  }
}

std::vector<std::string> HostStreams::handles() const {
  std::vector<std::string> result;
  for (const internal::StreamData &stream : graph_.streams) {
    result.push_back(stream.handle);
  }
  return result;
}

} // namespace poplar::engine
