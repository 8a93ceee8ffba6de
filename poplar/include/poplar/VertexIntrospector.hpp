// What a performance estimator may ask of a vertex: the sizes of its fields and
// their initial values.
#pragma once

#include <poplar/Target.hpp>
#include <poplar/Type.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace poplar {

namespace internal {
struct Access;
struct VertexTable;
} // namespace internal

class FieldData {
public:
  // One tensor of a list.
  class Item {
  public:
    explicit Item(std::size_t size) : size_(size) {}
    std::size_t size() const { return size_; }

  private:
    std::size_t size_;
  };

  // 0: one element; 1: a vector; 2: a list of vectors.
  unsigned rank() const { return rank_; }
  // Elements, or tensors of a list.
  std::size_t size() const { return size_; }
  // Throws index_error.
  Item operator[](std::size_t index) const;

  // The values of a field that is not connected to a tensor.
  template <typename T> T getInitialValue(const Target &) const {
    T value = T();
    readValues(equivalent_device_type<T>().value, &value, 1);
    return value;
  }
  template <typename T> std::vector<T> getInitialValues(const Target &) const {
    std::vector<T> values(size());
    readValues(equivalent_device_type<T>().value, values.data(), values.size());
    return values;
  }

private:
  friend class VertexIntrospector;

  void readValues(const Type &hostType, void *values, std::size_t count) const;

  std::string name_;
  Type type_;
  unsigned rank_ = 0;
  std::size_t size_ = 0;
  std::vector<std::size_t> itemSizes_; // of a list's tensors
  std::vector<unsigned char> initial_; // bytes; empty when connected
};

class VertexIntrospector {
public:
  // Throws unknown_field.
  FieldData getFieldInfo(const std::string &fieldName) const;

private:
  friend struct internal::Access;
  VertexIntrospector(const internal::VertexTable &table, unsigned vertex)
      : table_(&table), vertex_(vertex) {}

  const internal::VertexTable *table_;
  unsigned vertex_;
};

} // namespace poplar
