// INTERFACE: a type of user vertex as its codelet file describes it: where the
// fields lie in the C++ object, and how to run many of them. Written by popc,
// read by Graph (connections), the engine (states) and the model (bytes).
#pragma once

#include <poplar/popc/Table.hpp>
#include <support/DataType.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace poplar::internal {

using popc::EdgeDirection;
using popc::FieldLayout;
using popc::FieldShape;
using popc::VertexBase;

// The host keeps every layout of Vector as a full pointer and a count.
struct HostSpan {
  void *data = nullptr;
  std::uint64_t size = 0; // entries
};

struct VertexField {
  std::string name;
  FieldShape shape = FieldShape::Value;
  EdgeDirection direction = EdgeDirection::None;
  support::DataType type = support::DataType::Float; // of one element
  std::uint32_t offset = 0;                          // bytes into the object
  std::uint32_t count = 1; // Value: elements of the array, else 1
  FieldLayout layout = FieldLayout::None;     // of the vector, or of the outer
                                              // one of a list
  FieldLayout itemLayout = FieldLayout::None; // of a VectorList's items
  std::uint32_t alignment = 1; // bytes that the machine wants of the data
  bool isInterleaved = false;  // the machine wants it in interleaved memory

  bool isEdge() const { return direction != EdgeDirection::None; }
  bool isList() const {
    return shape == FieldShape::ScalarList || shape == FieldShape::VectorList;
  }
  bool isWritten() const {
    return direction == EdgeDirection::Output ||
           direction == EdgeDirection::InOut;
  }
};

struct VertexType {
  std::string name; // with template arguments, no spaces after commas
  VertexBase base = VertexBase::Worker;
  std::vector<VertexField> fields; // inherited ones first
  std::uint32_t size = 0;          // bytes of the C++ object
  std::uint32_t alignment = 1;
  // Calls printf somewhere: runs in order, on one core.
  bool isPrinting = false;
  // Runs `count` objects that lie `stride` bytes apart, all workers of each.
  // False when some compute() returned false.
  bool (*run)(std::byte *first, std::size_t stride,
              std::size_t count) = nullptr;

  // The position in `fields`, or npos.
  static constexpr std::size_t npos = ~std::size_t(0);
  std::size_t findField(std::string_view field) const {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].name == field) {
        return i;
      }
    }
    return npos;
  }
};

// A loaded codelet file; `run` of its types works while it lives.
struct CodeletFile {
  std::string name;             // what was given to addCodelets
  std::vector<std::byte> bytes; // the .gp file, as executables keep it
  std::vector<VertexType> types;
  std::shared_ptr<void> code; // the loaded library
};

} // namespace poplar::internal
