// Small handles to things that a Graph owns.
#pragma once

#include <poplar/StringRef.hpp>

#include <cstddef>
#include <limits>
#include <string>

namespace poplar {

namespace internal {
struct Access;

// A number that one graph gives to one of its things. Handles that programs
// make from a number alone belong to no known graph, which is graph 0.
template <typename Handle> class GraphHandle {
public:
  GraphHandle() = default;
  explicit GraphHandle(unsigned id) : id_(id) {}
  unsigned getId() const { return id_; }

  friend bool operator==(const Handle &a, const Handle &b) {
    return a.getId() == b.getId();
  }
  friend bool operator!=(const Handle &a, const Handle &b) { return !(a == b); }
  friend bool operator<(const Handle &a, const Handle &b) {
    return a.getId() < b.getId();
  }

private:
  friend struct Access;

  unsigned id_ = std::numeric_limits<unsigned>::max();
  unsigned graph_ = 0;
};
} // namespace internal

class ComputeSet : public internal::GraphHandle<ComputeSet> {
public:
  ComputeSet() = default;
  explicit ComputeSet(unsigned id) : GraphHandle(id) {}
};

// A program of a graph that program::Call runs.
class Function : public internal::GraphHandle<Function> {
public:
  Function() = default;
  explicit Function(unsigned id) : GraphHandle(id) {}
};

class FieldRef;

class VertexRef : public internal::GraphHandle<VertexRef> {
public:
  VertexRef() = default;
  explicit VertexRef(unsigned id) : GraphHandle(id) {}

  // A field of the vertex; the name is looked up when the field is used.
  FieldRef operator[](StringRef fieldName) const;
};

// A field of a vertex or, indexed, one tensor of a field that is a list.
class FieldRef {
public:
  FieldRef() = default;

  FieldRef operator[](std::size_t index) const {
    FieldRef item = *this;
    item.index_ = index;
    item.isIndexed_ = true;
    return item;
  }
  bool isIndexed() const { return isIndexed_; }
  std::size_t getIndex() const { return index_; }

  friend bool operator==(const FieldRef &a, const FieldRef &b) {
    return a.vertex_ == b.vertex_ && a.name_ == b.name_ &&
           a.isIndexed_ == b.isIndexed_ && a.index_ == b.index_;
  }
  friend bool operator!=(const FieldRef &a, const FieldRef &b) {
    return !(a == b);
  }

private:
  friend class VertexRef;
  friend struct internal::Access;

  VertexRef vertex_;
  std::string name_;
  std::size_t index_ = 0;
  bool isIndexed_ = false;
};

inline FieldRef VertexRef::operator[](StringRef fieldName) const {
  FieldRef field;
  field.vertex_ = *this;
  field.name_ = fieldName.cloneAsString();
  return field;
}

} // namespace poplar
