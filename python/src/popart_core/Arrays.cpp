#include "Arrays.hpp"

#include <popart/error.hpp>
#include <support/Error.hpp>

namespace popart::python {
namespace {

namespace py = pybind11;

struct TypeRow {
  const char *format; // kind and size, as NumPy's dtype.str has them
  DataType type;
};

constexpr TypeRow rows[] = {
    {"f4", DataType::FLOAT},     {"f2", DataType::FLOAT16},
    {"f8", DataType::DOUBLE},    {"i4", DataType::INT32},
    {"i8", DataType::INT64},     {"i2", DataType::INT16},
    {"i1", DataType::INT8},      {"u4", DataType::UINT32},
    {"u8", DataType::UINT64},    {"u2", DataType::UINT16},
    {"u1", DataType::UINT8},     {"b1", DataType::BOOL},
    {"c8", DataType::COMPLEX64}, {"c16", DataType::COMPLEX128},
};

} // namespace

DataType toDataType(const py::dtype &type) {
  std::string format =
      std::string(1, type.kind()) + std::to_string(type.itemsize());
  for (const TypeRow &row : rows) {
    if (format == row.format) {
      return row.type;
    }
  }
  throw error(fmt::format("[popart] NumPy element type {} is not one of "
                          "PopART's",
                          format));
}

TensorInfo toInfo(const py::array &array) {
  return TensorInfo(toDataType(array.dtype()),
                    Shape(array.shape(), array.shape() + array.ndim()));
}

void requireContiguous(const py::array &array, const std::string &name) {
  support::requireUser<error>(
      (array.flags() & py::array::c_style) != 0,
      "Array for tensor '{}' is not in C's order: use np.ascontiguousarray",
      name);
}

NumpyArray::NumpyArray(py::array array, const std::string &name, bool isWritten)
    : array_(std::move(array)), info_(toInfo(array_)) {
  requireContiguous(array_, name);
  support::requireUser<error>(!isWritten || array_.writeable(),
                              "Array for tensor '{}' cannot be written", name);
  data_ = const_cast<void *>(array_.data()); // only written if isWritten
}

NumpyArrays toArrays(const py::dict &arrays, bool areWritten) {
  NumpyArrays result;
  for (auto [key, value] : arrays) {
    auto name = key.cast<std::string>();
    support::requireUser<error>(py::isinstance<py::array>(value),
                                "The value for tensor '{}' is not a NumPy "
                                "array",
                                name);
    result[name] = std::make_unique<NumpyArray>(
        py::reinterpret_borrow<py::array>(value), name, areWritten);
  }
  return result;
}

} // namespace popart::python
