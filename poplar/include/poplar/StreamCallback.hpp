// Host functions that produce or consume the data of a stream.
#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace poplar {

class StreamCallbackBase {
public:
  enum class Result { Success, NotAvailable };

  virtual ~StreamCallbackBase() = default;
  // The transfer whose data was fetched or prefetched last is over.
  virtual void complete() = 0;
  // What was prefetched will not be used.
  virtual void invalidatePrefetched() {}
};

class StreamCallback : public StreamCallbackBase {
public:
  using StreamCallbackBase::Result;

  // Called ahead of need; may decline.
  virtual Result prefetch(void *buffer) = 0;
  // Host to device: fills the buffer. Device to host: takes its contents.
  virtual void fetch(void *buffer) = 0;
};

// For callbacks that only ever fetch.
class LegacyStreamCallback : public StreamCallback {
public:
  Result prefetch(void *) final { return Result::NotAvailable; }
  void complete() final {}
  void invalidatePrefetched() final {}
};

// Owns a callback; made from a std::unique_ptr to one or from any callable that
// takes the buffer.
class StreamCallbackHandle {
public:
  template <typename Callback, typename Deleter,
            typename = typename std::enable_if<
                std::is_base_of<StreamCallback, Callback>::value>::type>
  StreamCallbackHandle(std::unique_ptr<Callback, Deleter> callback)
      : callback_(std::move(callback)) {}

  template <typename Function, typename = decltype(std::declval<Function &>()(
                                   std::declval<void *>()))>
  StreamCallbackHandle(Function function)
      : callback_(std::make_shared<FunctionCallback>(std::move(function))) {}

  StreamCallback &operator*() const { return *callback_; }
  StreamCallback *operator->() const { return callback_.get(); }
  explicit operator bool() const { return callback_ != nullptr; }

private:
  struct FunctionCallback final : LegacyStreamCallback {
    explicit FunctionCallback(std::function<void(void *)> function)
        : function_(std::move(function)) {}
    void fetch(void *buffer) override { function_(buffer); }

  private:
    std::function<void(void *)> function_;
  };

  std::shared_ptr<StreamCallback> callback_;
};

} // namespace poplar
