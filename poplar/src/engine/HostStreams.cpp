#include "engine/HostStreams.hpp"

#include "device/DeviceUse.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace poplar::engine {

using support::requireUser;

HostStreams::HostStreams(const internal::GraphData &graph, bool isPrefetching)
    : isPrefetching_(isPrefetching) {
  for (const internal::StreamData &data : graph.streams) {
    indexOf_.emplace(data.handle, streams_.size());
    Stream &stream = streams_.emplace_back();
    stream.data = &data;
    stream.bytes =
        static_cast<std::size_t>(data.elements) * support::sizeOf(data.type);
    stream.ends.resize(graph.replicationFactor);
    if (data.isBroadcast && graph.replicationFactor > 1) {
      stream.replay = AlignedBuffer(stream.bytes);
    }
  }
}

HostStreams::Stream &HostStreams::find(const std::string &handle) {
  const auto found = indexOf_.find(handle);
  requireUser<stream_connection_error>(
      found != indexOf_.end(),
      "[Engine::connectStream] there is no stream '{}' in the graph", handle);
  return streams_[found->second];
}

std::size_t HostStreams::endsUsed(const Stream &stream) {
  return stream.data->isBroadcast ? 1 : stream.ends.size();
}

void HostStreams::replace(End &old, End end) {
  if (const auto *callback = std::get_if<std::shared_ptr<CallbackEnd>>(&old)) {
    (*callback)->invalidate();
  }
  old = std::move(end);
}

void HostStreams::connectBuffer(const std::string &handle, void *begin,
                                void *end) {
  Stream &stream = find(handle);
  auto *first = static_cast<std::byte *>(begin);
  auto *last = static_cast<std::byte *>(end);
  const auto size = static_cast<std::size_t>(last - first);
  const std::size_t step = endsUsed(stream) * stream.bytes;
  if (first == nullptr && step == 0) { // an array without elements
    static std::byte nothing{};
    first = last = &nothing;
  }
  requireUser<stream_connection_error>(
      first != nullptr && last >= first && size >= step &&
          (step == 0 || size % step == 0),
      "[Engine::connectStream] the buffer of stream '{}' has {} bytes; it must "
      "hold a whole number of transfers of {} bytes for {} replicas",
      handle, last - first, stream.bytes, endsUsed(stream));
  for (std::size_t i = 0; i < endsUsed(stream); ++i) {
    replace(stream.ends[i],
            BufferEnd{first + i * stream.bytes, last, size, step});
  }
}

void HostStreams::connectFixed(const std::string &handle, void *buffer) {
  const Stream &stream = find(handle);
  auto *begin = static_cast<std::byte *>(buffer);
  requireUser<stream_connection_error>(
      begin != nullptr, "[Engine::connectStream] '{}' was given a null pointer",
      handle);
  connectBuffer(handle, begin, begin + endsUsed(stream) * stream.bytes);
}

std::shared_ptr<CallbackEnd>
HostStreams::makeCallbackEnd(const Stream &stream,
                             StreamCallbackHandle callback) {
  requireUser<stream_connection_error>(
      static_cast<bool>(callback),
      "[Engine::connectStreamToCallback] '{}' was given an empty callback",
      stream.data->handle);
  const bool isPrefetched = isPrefetching_ && stream.data->isHostToDevice;
  return std::make_shared<CallbackEnd>(
      std::move(callback), stream.bytes,
      isPrefetched ? stream.data->bufferingDepth : 0);
}

void HostStreams::connectCallback(const std::string &handle,
                                  StreamCallbackHandle callback) {
  Stream &stream = find(handle);
  const auto shared = makeCallbackEnd(stream, std::move(callback));
  for (End &end : stream.ends) {
    replace(end, shared);
  }
}

void HostStreams::connectCallback(const std::string &handle, unsigned replica,
                                  StreamCallbackHandle callback) {
  Stream &stream = find(handle);
  requireUser<stream_connection_error>(
      replica < stream.ends.size(),
      "[Engine::connectStreamToCallback] '{}' was given replica {}; the graph "
      "has {}",
      handle, replica, stream.ends.size());
  replace(stream.ends[replica], makeCallbackEnd(stream, std::move(callback)));
}

void HostStreams::requireConnected(
    const std::vector<internal::StreamId> &streams) const {
  std::string missing;
  for (internal::StreamId id : streams) {
    const Stream &stream = streams_[id.index()];
    for (std::size_t i = 0; i < endsUsed(stream); ++i) {
      if (std::holds_alternative<std::monostate>(stream.ends[i])) {
        missing += fmt::format("{}'{}'", missing.empty() ? "" : ", ",
                               stream.data->handle);
        missing += endsUsed(stream) > 1 ? fmt::format(" of replica {}", i) : "";
      }
    }
  }
  requireUser<stream_connection_error>(
      missing.empty(),
      "[Engine::run] the program uses streams that are not connected: {}",
      missing);
}

std::byte *HostStreams::advance(BufferEnd &end) {
  std::byte *at = end.cursor;
  end.cursor += end.step;
  if (end.cursor >= end.end) {
    end.cursor -= end.size;
  }
  return at;
}

bool HostStreams::receiveFrom(End &end, std::size_t bytes, std::byte *data) {
  if (auto *buffer = std::get_if<BufferEnd>(&end)) {
    std::memcpy(data, advance(*buffer), bytes);
    return true;
  }
  const internal::WaitTime time(use_);
  return std::get<std::shared_ptr<CallbackEnd>>(end)->receive(data);
}

void HostStreams::receive(internal::StreamId id, unsigned replica,
                          std::byte *data) {
  if (const std::byte *from = beginReceive(id, replica, data)) {
    std::memcpy(data, from, transferBytes(id));
  }
}

std::byte *HostStreams::beginReceive(internal::StreamId id, unsigned replica,
                                     std::byte *data) {
  Stream &stream = streams_[id.index()];
  const bool isReplayed = stream.replay.data() != nullptr;
  if (isReplayed && replica > 0) {
    std::memcpy(data, stream.replay.data(), stream.bytes);
    return nullptr;
  }
  End &end = stream.ends[replica];
  ++stream.transfers;
  if (auto *buffer = std::get_if<BufferEnd>(&end); buffer && !isReplayed) {
    return advance(*buffer);
  }
  if (!receiveFrom(end, stream.bytes, data)) {
    ++stream.waits;
  }
  if (isReplayed) {
    std::memcpy(stream.replay.data(), data, stream.bytes);
  }
  return nullptr;
}

void HostStreams::send(internal::StreamId id, unsigned replica,
                       const std::byte *data) {
  if (std::byte *to = beginSend(id, replica, data)) {
    std::memcpy(to, data, transferBytes(id));
  }
}

std::byte *HostStreams::beginSend(internal::StreamId id, unsigned replica,
                                  const std::byte *data) {
  End &end = streams_[id.index()].ends[replica];
  if (auto *buffer = std::get_if<BufferEnd>(&end)) {
    return advance(*buffer);
  }
  const internal::WaitTime time(use_);
  std::get<std::shared_ptr<CallbackEnd>>(end)->send(data);
  return nullptr;
}

std::uint64_t HostStreams::bufferBytes() const {
  std::uint64_t bytes = 0;
  for (const Stream &stream : streams_) {
    const unsigned depth = std::max(stream.data->bufferingDepth, 1U);
    bytes += std::uint64_t(stream.bytes) * endsUsed(stream) * depth;
  }
  return bytes;
}

std::map<std::string, model::PartCounts> HostStreams::takeCounts() {
  std::map<std::string, model::PartCounts> counts;
  for (Stream &stream : streams_) {
    if (stream.transfers != 0) {
      counts[stream.data->handle] = {std::exchange(stream.transfers, 0),
                                     {std::exchange(stream.waits, 0)}};
    }
  }
  return counts;
}

std::vector<std::string> HostStreams::handles() const {
  std::vector<std::string> result;
  for (const Stream &stream : streams_) {
    result.push_back(stream.data->handle);
  }
  return result;
}

} // namespace poplar::engine
