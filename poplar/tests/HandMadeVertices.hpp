// Vertex types without a compiler: what popc would make of a few small classes,
// written by hand, for tests of graphs and engines.
#pragma once

#include <poplar/internal/Access.hpp>
#include <poplar/internal/VertexType.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace poplar::test {

using internal::EdgeDirection;
using internal::FieldLayout;
using internal::FieldShape;
using internal::HostSpan;
using internal::VertexField;
using internal::VertexType;

inline VertexField
makeField(std::string name, FieldShape shape, EdgeDirection direction,
          std::size_t offset,
          support::DataType type = support::DataType::Float) {
  VertexField field;
  field.name = std::move(name);
  field.shape = shape;
  field.direction = direction;
  field.offset = static_cast<std::uint32_t>(offset);
  field.type = type;
  field.alignment = static_cast<std::uint32_t>(support::sizeOf(type));
  if (shape == FieldShape::Vector || shape == FieldShape::ValueVector ||
      field.isList()) {
    field.layout = FieldLayout::Span;
  }
  if (shape == FieldShape::VectorList) {
    field.itemLayout = FieldLayout::Span;
  }
  return field;
}

template <typename Object>
VertexType makeType(std::string name, std::vector<VertexField> fields) {
  VertexType type;
  type.name = std::move(name);
  type.fields = std::move(fields);
  type.size = sizeof(Object);
  type.alignment = alignof(Object);
  type.run = [](std::byte *first, std::size_t stride, std::size_t count) {
    bool isSuccess = true;
    for (std::size_t i = 0; i < count; ++i) {
      auto *object = reinterpret_cast<Object *>(first + i * stride);
      isSuccess = object->compute() && isSuccess;
    }
    return isSuccess;
  };
  return type;
}

inline float *floats(const HostSpan &span) {
  return static_cast<float *>(span.data);
}

// sum = a + b; fails when the sum is negative.
struct AddVertex {
  float *a;
  float *b;
  float *sum;
  bool compute() {
    *sum = *a + *b;
    return *sum >= 0;
  }
};

// out[i] = in[i] * factor + offsets[0], and counts its calls in `calls`.
struct ScaleVertex {
  HostSpan in;
  HostSpan out;
  HostSpan offsets;
  float factor;
  float calls;
  bool compute() {
    ++calls;
    const float offset = offsets.size > 0 ? floats(offsets)[0] : 0;
    for (std::size_t i = 0; i < in.size; ++i) {
      floats(out)[i] = floats(in)[i] * factor + offset + calls;
    }
    return true;
  }
};

// values[i] += 1, in place; writes only the even elements.
struct IncrementEvenVertex {
  HostSpan values;
  bool compute() {
    for (std::size_t i = 0; i < values.size; i += 2) {
      floats(values)[i] += 1;
    }
    return true;
  }
};

// total = the sum of all elements of all parts, in order.
struct SumPartsVertex {
  HostSpan parts;
  float *total;
  bool compute() {
    *total = 0;
    const auto *spans = static_cast<const HostSpan *>(parts.data);
    for (std::size_t p = 0; p < parts.size; ++p) {
      for (std::size_t i = 0; i < spans[p].size; ++i) {
        *total += floats(spans[p])[i];
      }
    }
    return true;
  }
};

// counter -= 1; running = counter > 0.
struct CountDownVertex {
  int *counter;
  bool *running;
  bool compute() {
    *running = --*counter > 0;
    return true;
  }
};

inline std::shared_ptr<const internal::CodeletFile> handMadeCodelets() {
  using enum FieldShape;
  using enum EdgeDirection;
  auto file = std::make_shared<internal::CodeletFile>();
  file->name = "hand-made";
  file->types = {
      makeType<AddVertex>(
          "Add", {makeField("a", Scalar, Input, offsetof(AddVertex, a)),
                  makeField("b", Scalar, Input, offsetof(AddVertex, b)),
                  makeField("sum", Scalar, Output, offsetof(AddVertex, sum))}),
      makeType<ScaleVertex>(
          "Scale",
          {makeField("in", Vector, Input, offsetof(ScaleVertex, in)),
           makeField("out", Vector, Output, offsetof(ScaleVertex, out)),
           makeField("offsets", ValueVector, None,
                     offsetof(ScaleVertex, offsets)),
           makeField("factor", Value, None, offsetof(ScaleVertex, factor)),
           makeField("calls", Value, None, offsetof(ScaleVertex, calls))}),
      makeType<IncrementEvenVertex>(
          "IncrementEven", {makeField("values", Vector, InOut,
                                      offsetof(IncrementEvenVertex, values))}),
      makeType<SumPartsVertex>("SumParts",
                               {makeField("parts", VectorList, Input,
                                          offsetof(SumPartsVertex, parts)),
                                makeField("total", Scalar, Output,
                                          offsetof(SumPartsVertex, total))}),
      makeType<CountDownVertex>("CountDown",
                                {makeField("counter", Scalar, InOut,
                                           offsetof(CountDownVertex, counter),
                                           support::DataType::Int),
                                 makeField("running", Scalar, Output,
                                           offsetof(CountDownVertex, running),
                                           support::DataType::Bool)}),
  };
  return file;
}

} // namespace poplar::test
