// NumPy's arrays as PopART's.
#pragma once

#include <popart/stepio.hpp>

#include <pybind11/numpy.h>

#include <map>
#include <memory>
#include <string>

namespace popart::python {

// Throws popart::error for element types that PopART does not have.
DataType toDataType(const pybind11::dtype &type);
TensorInfo toInfo(const pybind11::array &array);

// Throws popart::error unless the elements are in one piece, in C's order.
void requireContiguous(const pybind11::array &array, const std::string &name);

// Keeps the array alive while PopART uses its memory.
class NumpyArray : public IArray {
public:
  NumpyArray(pybind11::array array, const std::string &name, bool isWritten);

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

private:
  pybind11::array array_;
  TensorInfo info_;
  void *data_;
};

using NumpyArrays = std::map<TensorId, std::unique_ptr<NumpyArray>>;
NumpyArrays toArrays(const pybind11::dict &arrays, bool areWritten);

} // namespace popart::python
