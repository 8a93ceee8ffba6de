// What one user vertex takes on its tile.
#include "model/VertexState.hpp"

#include "model/Constants.hpp"

#include <algorithm>
#include <cmath>

namespace poplar::model {

namespace {

using internal::FieldLayout;
using internal::FieldShape;
using internal::FieldSlot;
using internal::VertexBase;
using internal::VertexField;
using internal::VertexId;
using internal::VertexTable;
using internal::VertexType;

struct Layout {
  std::uint32_t bytes;
  std::uint32_t alignment;
};

std::uint64_t roundUp(std::uint64_t value, std::uint64_t grain) {
  return (value + grain - 1) / grain * grain;
}

// A vector's pointer and count. The compact layouts are what the chip has for
// them: full pointers since its memory outgrew scaled ones.
Layout layoutOf(FieldLayout layout) {
  switch (layout) {
  case FieldLayout::None:
  case FieldLayout::Span:
  case FieldLayout::DeltaNElements:
  case FieldLayout::CompactDeltaN:
    return {8, 4};
  case FieldLayout::ShortSpan:
  case FieldLayout::OnePtr:
  case FieldLayout::CompactPtr:
    return {4, 4};
  case FieldLayout::ScaledPtr32:
  case FieldLayout::ScaledPtr64:
  case FieldLayout::ScaledPtr128:
    return {2, 2};
  case FieldLayout::DeltaN:
    return {6, 2};
  }
  return {};
}

Layout layoutOf(const VertexField &field) {
  const auto size = static_cast<std::uint32_t>(support::sizeOf(field.type));
  switch (field.shape) {
  case FieldShape::Value:
    return {size * field.count, size};
  case FieldShape::Scalar:
    return {edgePointerBytes, edgePointerBytes};
  case FieldShape::ValueVector:
  case FieldShape::Vector:
  case FieldShape::ScalarList:
  case FieldShape::VectorList:
    return layoutOf(field.layout);
  }
  return {};
}

std::uint32_t entryBytes(const VertexField &field) {
  const bool isDelta = field.layout == FieldLayout::DeltaN ||
                       field.layout == FieldLayout::DeltaNElements ||
                       field.layout == FieldLayout::CompactDeltaN;
  return field.shape == FieldShape::ScalarList || isDelta
             ? edgePointerBytes
             : layoutOf(field.itemLayout).bytes;
}

// Whoever asks for the alignment of a vector loads vectors.
double elementsPerAccess(const VertexField &field) {
  const auto size = static_cast<std::uint32_t>(support::sizeOf(field.type));
  return field.alignment >= userVectorBytes && size < userVectorBytes
             ? userVectorBytes / size
             : 1;
}

// Worker cycles of compiled loops over all edges. When as many elements are
// written as the longest field has that is read, each is taken to be made on
// its own; otherwise several are combined, as in sums and stencils.
std::uint64_t loopCycles(const VertexTable &table, VertexId vertex) {
  std::uint64_t written = 0;
  std::uint64_t longest = 0;
  std::uint64_t length = 0; // of the field
  double words = 0;
  double subwordCycles = 0;
  const VertexField *last = nullptr;
  forEachEdge(
      table, vertex, [&](const VertexField &field, const FieldSlot &slot) {
        const auto count = static_cast<std::uint64_t>(slot.count);
        length = count + (&field == last ? length : 0);
        last = &field;
        written += field.isWritten() ? count : 0;
        longest = std::max(
            longest,
            field.direction == internal::EdgeDirection::Output ? 0 : length);
        const double accesses =
            static_cast<double>(count) / elementsPerAccess(field);
        if (support::sizeOf(field.type) >= 4) {
          words += accesses;
        } else {
          subwordCycles += accesses * userCyclesPerSubword;
        }
      });
  const double cyclesPerWord =
      written >= longest ? userCyclesPerMapped : userCyclesPerSummed;
  return static_cast<std::uint64_t>(
      std::ceil(words * cyclesPerWord + subwordCycles));
}

} // namespace

std::uint32_t stateBytes(const VertexType &type) {
  std::uint64_t bytes = 0;
  for (const VertexField &field : type.fields) {
    const Layout layout = layoutOf(field);
    bytes = roundUp(bytes, layout.alignment) + layout.bytes;
  }
  return static_cast<std::uint32_t>(bytes);
}

bool hasExtras(const VertexType &type) {
  return std::any_of(
      type.fields.begin(), type.fields.end(), [](const VertexField &field) {
        return field.isList() || field.shape == FieldShape::ValueVector;
      });
}

VertexExtras extrasOf(const VertexTable &table, VertexId vertex) {
  VertexExtras extras;
  const VertexType &type = table.typeOf(vertex);
  const FieldSlot *slots = table.slotsOf(vertex);
  for (std::size_t i = 0; i < type.fields.size(); ++i) {
    const VertexField &field = type.fields[i];
    const auto count = static_cast<std::uint64_t>(slots[i].count);
    if (field.isList() && slots[i].kind == FieldSlot::Kind::List) {
      extras.listBytes += count * entryBytes(field);
    } else if (field.shape == FieldShape::ValueVector &&
               slots[i].kind == FieldSlot::Kind::Bytes) {
      extras.fieldBytes += roundUp(count, edgePointerBytes);
    }
  }
  return extras;
}

std::uint64_t cyclesOf(const VertexTable &table, VertexId vertex,
                       unsigned workerContexts) {
  const internal::VertexData &data = table[vertex];
  if (data.cycles != internal::VertexData::noEstimate) {
    return data.cycles;
  }
  const std::uint64_t loops = loopCycles(table, vertex);
  switch (table.typeOf(vertex).base) {
  case VertexBase::Worker:
    return userVertexCycles + loops;
  case VertexBase::Multi: // the contexts share the loops
    return workerContexts *
           (userVertexCycles + (loops + workerContexts - 1) / workerContexts);
  case VertexBase::Supervisor: // waits for each instruction, as a context does
    return workerContexts * (userVertexCycles + loops);
  }
  return 0;
}

} // namespace poplar::model
