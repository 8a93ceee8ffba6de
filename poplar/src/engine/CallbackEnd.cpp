#include "engine/CallbackEnd.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace poplar::engine {
namespace {

std::size_t roundUpToLines(std::size_t bytes) {
  constexpr std::size_t line = AlignedBuffer::alignment;
  return (bytes + line - 1) / line * line;
}

} // namespace

CallbackEnd::CallbackEnd(StreamCallbackHandle callback, std::size_t bytes,
                         unsigned depth)
    : callback_(std::move(callback)), bytes_(bytes),
      stride_(roundUpToLines(bytes)), depth_(depth),
      buffers_(stride_ * std::max(depth, 1U)) {}

std::byte *CallbackEnd::buffer(unsigned index) const {
  return buffers_.data() + stride_ * (index % std::max(depth_, 1U));
}

bool CallbackEnd::receive(std::byte *data) {
  const bool isPrefetched = count_ > 0;
  if (isPrefetched) {
    std::memcpy(data, buffer(first_), bytes_);
    first_ = (first_ + 1) % depth_;
    --count_;
  } else {
    callback_->fetch(data);
  }
  callback_->complete();
  while (count_ < depth_ && callback_->prefetch(buffer(first_ + count_)) ==
                                StreamCallback::Result::Success) {
    ++count_;
  }
  return isPrefetched;
}

void CallbackEnd::send(const std::byte *data) {
  std::memcpy(buffer(0), data, bytes_);
  callback_->fetch(buffer(0));
  callback_->complete();
}

void CallbackEnd::invalidate() {
  if (count_ > 0) {
    first_ = count_ = 0;
    callback_->invalidatePrefetched();
  }
}

} // namespace poplar::engine
