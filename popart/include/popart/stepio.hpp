// Where a step's inputs come from and where its anchors go.
#pragma once

#include <popart/names.hpp>
#include <popart/tensorinfo.hpp>

#include <functional>
#include <map>
#include <ostream>
#include <utility>

namespace popart {

namespace popx {
class Executablex; // what was compiled
} // namespace popx

struct ConstVoidData {
  const void *data = nullptr;
  TensorInfo info;
};
struct MutableVoidData {
  void *data = nullptr;
  TensorInfo info;
};

// One micro-batch at a time; data must stay until the next call for the id.
class IStepIO {
public:
  virtual ~IStepIO() = default;
  virtual ConstVoidData in(TensorId id, std::int64_t numElements, bool prefetch,
                           bool isBroadcast) = 0;
  virtual void inComplete(TensorId id, std::int64_t numElements,
                          bool isBroadcast) = 0;
  virtual MutableVoidData out(TensorId id, std::int64_t numElements) = 0;
  virtual void outComplete(TensorId id) = 0;
  // Checks of the user's own, before the first step.
  virtual void assertNumElements(const popx::Executablex &) const {}

  void enableRuntimeAsserts(bool enable) { runtimeAsserts_ = enable; }
  bool runtimeAssertsEnabled() const { return runtimeAsserts_; }

private:
  bool runtimeAsserts_ = true;
};

class IArray {
public:
  virtual ~IArray() = default;
  virtual void *data() = 0;
  virtual DataType dataType() const = 0;
  virtual std::size_t rank() const = 0;
  virtual std::int64_t dim(std::size_t index) const = 0;
  virtual std::size_t nelms() const = 0;
  virtual const Shape &shape() const = 0;
};

// The user's memory with a type and a shape; owns nothing.
template <typename T> class NDArrayWrapper : public IArray {
public:
  NDArrayWrapper(T *data, const TensorInfo &info) : data_(data), info_(info) {}
  NDArrayWrapper(T *data, const Shape &shape);

  void *data() override { return data_; }
  DataType dataType() const override { return info_.dataType(); }
  std::size_t rank() const override { return info_.shape().size(); }
  std::int64_t dim(std::size_t index) const override {
    return info_.shape().at(index);
  }
  std::size_t nelms() const override {
    return static_cast<std::size_t>(info_.nelms());
  }
  const Shape &shape() const override { return info_.shape(); }

  // "{1, 2, 3}", whatever the shape.
  friend std::ostream &operator<<(std::ostream &out,
                                  const NDArrayWrapper &array) {
    out << '{';
    for (std::int64_t i = 0; i < array.info_.nelms(); ++i) {
      out << (i == 0 ? "" : ", ") << array.data_[i];
    }
    return out << '}';
  }

private:
  T *data_;
  TensorInfo info_;
};

template <typename T> DataType dataTypeOf();
template <> inline DataType dataTypeOf<float>() {
  return DataType::FLOAT;
}
template <> inline DataType dataTypeOf<std::int8_t>() {
  return DataType::INT8;
}
template <> inline DataType dataTypeOf<std::uint8_t>() {
  return DataType::UINT8;
}
template <> inline DataType dataTypeOf<std::int16_t>() {
  return DataType::INT16;
}
template <> inline DataType dataTypeOf<std::uint16_t>() {
  return DataType::UINT16;
}
template <> inline DataType dataTypeOf<std::int32_t>() {
  return DataType::INT32;
}
template <> inline DataType dataTypeOf<std::uint32_t>() {
  return DataType::UINT32;
}
template <> inline DataType dataTypeOf<std::int64_t>() {
  return DataType::INT64;
}
template <> inline DataType dataTypeOf<bool>() {
  return DataType::BOOL;
}

template <typename T>
NDArrayWrapper<T>::NDArrayWrapper(T *data, const Shape &shape)
    : data_(data), info_(dataTypeOf<T>(), shape) {}

// Whole arrays for the step: each call moves on by one micro-batch and wraps at
// the end. The session connects the arrays themselves and never calls in().
class StepIO : public IStepIO {
public:
  StepIO(const std::map<TensorId, IArray &> &inputs,
         const std::map<TensorId, IArray &> &outputs);

  ConstVoidData in(TensorId id, std::int64_t numElements, bool prefetch,
                   bool isBroadcast) override;
  void inComplete(TensorId id, std::int64_t numElements,
                  bool isBroadcast) override;
  MutableVoidData out(TensorId id, std::int64_t numElements) override;
  void outComplete(TensorId id) override;

  // Null when there is none of that name.
  IArray *findInput(const TensorId &id) const;
  IArray *findOutput(const TensorId &id) const;

private:
  struct Cursor {
    IArray *array;
    std::int64_t element;
  };
  std::map<TensorId, Cursor> inputs_;
  std::map<TensorId, Cursor> outputs_;
};

// The user's functions, each called for one micro-batch of one tensor.
class StepIOCallback : public IStepIO {
public:
  using InputCallback = std::function<ConstVoidData(TensorId, bool prefetch)>;
  using InputCompleteCallback = std::function<void(TensorId)>;
  using OutputCallback = std::function<MutableVoidData(TensorId)>;
  using OutputCompleteCallback = std::function<void(TensorId)>;

  StepIOCallback(InputCallback input, InputCompleteCallback inputComplete,
                 OutputCallback output, OutputCompleteCallback outputComplete)
      : input_(std::move(input)), inputComplete_(std::move(inputComplete)),
        output_(std::move(output)), outputComplete_(std::move(outputComplete)) {
  }

  ConstVoidData in(TensorId id, std::int64_t, bool prefetch, bool) override {
    return input_(id, prefetch);
  }
  void inComplete(TensorId id, std::int64_t, bool) override {
    inputComplete_(id);
  }
  MutableVoidData out(TensorId id, std::int64_t) override {
    return output_(id);
  }
  void outComplete(TensorId id) override { outputComplete_(id); }

private:
  InputCallback input_;
  InputCompleteCallback inputComplete_;
  OutputCallback output_;
  OutputCompleteCallback outputComplete_;
};

// Weights by name, read into or written from the user's memory.
class IWeightsIO {
public:
  virtual ~IWeightsIO() = default;
  virtual bool contains(TensorId id) const = 0;
  virtual MutableVoidData weight(TensorId id) const = 0;
};

class WeightsIO : public IWeightsIO {
public:
  bool contains(TensorId id) const override { return weights_.count(id) > 0; }
  MutableVoidData weight(TensorId id) const override { return weights_.at(id); }
  void insert(const TensorId &id, const MutableVoidData &data) {
    weights_[id] = data;
  }

private:
  std::map<TensorId, MutableVoidData> weights_;
};

} // namespace popart
