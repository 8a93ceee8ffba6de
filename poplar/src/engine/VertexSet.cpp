#include "engine/VertexSet.hpp"

#include "engine/CopyPieces.hpp"

#include <kernels/KernelEntry.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <cstring>
#include <map>

namespace poplar::engine {
namespace {

using internal::FieldShape;
using internal::FieldSlot;
using internal::HostSpan;
using internal::VertexField;
using internal::VertexId;
using internal::VertexTable;
using internal::VertexType;

using Kind = FieldSlot::Kind;

// What a vertex is taken to cost besides its elements, and each element.
constexpr double vertexTime = 10;
constexpr double elementTime = 0.3;

// Addresses of gathered elements start on a vector register's boundary.
constexpr std::size_t packedAlignment = 64;

std::size_t roundUp(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::size_t strideOf(const VertexType &type) {
  return roundUp(std::max<std::size_t>(type.size, 1), type.alignment);
}

std::size_t packedBytes(const FieldSlot &slot, const VertexField &field) {
  return slot.kind == Kind::View
             ? roundUp(static_cast<std::size_t>(slot.count) *
                           support::sizeOf(field.type),
                       packedAlignment)
             : 0;
}

// Bytes that a field points to besides elements of variables: the entries of a
// list, the values of a vector.
std::size_t tableBytes(const FieldSlot &slot, const VertexField &field) {
  const auto count = static_cast<std::size_t>(slot.count);
  switch (field.shape) {
  case FieldShape::ScalarList:
    return slot.kind == Kind::List ? count * sizeof(void *) : 0;
  case FieldShape::VectorList:
    return slot.kind == Kind::List ? count * sizeof(HostSpan) : 0;
  case FieldShape::ValueVector:
    return slot.kind == Kind::Bytes ? roundUp(count, sizeof(HostSpan)) : 0;
  default:
    return 0;
  }
}

bool keepsValues(const VertexType &type) {
  return std::any_of(type.fields.begin(), type.fields.end(),
                     [](const VertexField &field) { return !field.isEdge(); });
}

double costOf(const VertexTable &table, VertexId vertex) {
  double elements = 0;
  internal::forEachEdge(table, vertex,
                        [&](const VertexField &, const FieldSlot &slot) {
                          elements += static_cast<double>(slot.count);
                        });
  return vertexTime + elementTime * elements;
}

} // namespace

class VertexSet::Builder {
public:
  Builder(VertexSet &set, const internal::GraphData &graph,
          const AddressOf &addressOf)
      : set_(set), table_(graph.vertices), addressOf_(addressOf) {
    set_.addresses_.resize(graph.variables.size());
  }

  void build(std::vector<VertexId> vertices) {
    // Objects of one type lie together, in the order in which they were added.
    std::stable_sort(vertices.begin(), vertices.end(),
                     [&](VertexId a, VertexId b) {
                       return table_[a].type < table_[b].type;
                     });
    allocate(vertices);
    cut(vertices);
    if (std::any_of(vertices.begin(), vertices.end(), [&](VertexId vertex) {
          return keepsValues(table_.typeOf(vertex));
        })) {
      const auto append = [&](const AlignedBuffer &bytes) {
        set_.pristine_.insert(set_.pristine_.end(), bytes.data(),
                              bytes.data() + bytes.size());
      };
      append(set_.objects_);
      append(set_.tables_);
    }
  }

private:
  void allocate(const std::vector<VertexId> &vertices) {
    struct {
      std::size_t objects = 0, tables = 0, packed = 0;
    } sizes; // in bytes
    for (VertexId vertex : vertices) {
      const VertexType &type = table_.typeOf(vertex);
      const FieldSlot *slots = table_.slotsOf(vertex);
      sizes.objects = roundUp(sizes.objects, type.alignment) + strideOf(type);
      for (std::size_t i = 0; i < type.fields.size(); ++i) {
        sizes.tables += tableBytes(slots[i], type.fields[i]);
      }
      internal::forEachEdge(
          table_, vertex, [&](const VertexField &field, const FieldSlot &slot) {
            sizes.packed += packedBytes(slot, field);
          });
    }
    set_.objects_ = AlignedBuffer(sizes.objects);
    set_.tables_ = AlignedBuffer(sizes.tables);
    set_.packed_ = AlignedBuffer(sizes.packed);
  }

  // Shards of about equal cost; a vertex is never cut.
  void cut(const std::vector<VertexId> &vertices) {
    double total = 0;
    for (VertexId vertex : vertices) {
      total += costOf(table_, vertex);
      set_.isPrinting_ = set_.isPrinting_ || table_.typeOf(vertex).isPrinting;
    }
    // What is printed comes in the order of the vertices.
    const std::int64_t count =
        set_.isPrinting_
            ? 1
            : kernels::shardCount(static_cast<std::int64_t>(vertices.size()),
                                  total);
    const double share = total / static_cast<double>(count);
    double sum = 0;
    for (VertexId vertex : vertices) {
      const auto wanted = static_cast<std::size_t>(sum / share);
      if (set_.shards_.empty() || wanted >= set_.shards_.size()) {
        finishShard();
        set_.shards_.emplace_back();
      }
      const double cost = costOf(table_, vertex);
      set_.shards_.back().cost += cost;
      sum += cost;
      add(vertex);
    }
    finishShard();
  }

  void add(VertexId vertex) {
    const VertexType &type = table_.typeOf(vertex);
    const std::size_t stride = strideOf(type);
    objectsUsed_ = roundUp(objectsUsed_, type.alignment);
    std::byte *object = set_.objects_.data() + objectsUsed_;
    objectsUsed_ += stride;
    std::vector<Batch> &batches = set_.shards_.back().batches;
    if (batches.empty() || batches.back().type != &type) {
      batches.push_back({&type, object, stride, 0});
    }
    ++batches.back().count;
    const FieldSlot *slots = table_.slotsOf(vertex);
    for (std::size_t i = 0; i < type.fields.size(); ++i) {
      fill(type.fields[i], slots[i], object + type.fields[i].offset);
    }
  }

  void fill(const VertexField &field, const FieldSlot &slot,
            std::byte *target) {
    switch (field.shape) {
    case FieldShape::Value:
      if (slot.kind == Kind::Bytes) {
        std::memcpy(target, table_.bytes.data() + slot.begin,
                    static_cast<std::size_t>(slot.count));
      }
      break;
    case FieldShape::ValueVector: {
      std::byte *values = set_.tables_.data() + tablesUsed_;
      tablesUsed_ += tableBytes(slot, field);
      const auto bytes = static_cast<std::size_t>(slot.count);
      if (bytes > 0) {
        std::memcpy(values, table_.bytes.data() + slot.begin, bytes);
      }
      put(target, HostSpan{values, bytes / support::sizeOf(field.type)});
      break;
    }
    case FieldShape::Scalar:
    case FieldShape::Vector:
      fillEdge(field, slot, target, field.shape == FieldShape::Scalar);
      break;
    case FieldShape::ScalarList:
    case FieldShape::VectorList:
      fillList(field, slot, target);
      break;
    }
  }

  void fillList(const VertexField &field, const FieldSlot &slot,
                std::byte *target) {
    std::byte *entries = set_.tables_.data() + tablesUsed_;
    put(target, HostSpan{entries, static_cast<std::uint64_t>(slot.count)});
    if (slot.kind != Kind::List) {
      return;
    }
    tablesUsed_ += tableBytes(slot, field);
    const bool isScalar = field.shape == FieldShape::ScalarList;
    for (const FieldSlot &item : table_.lists[slot.index]) {
      fillEdge(field, item, entries, isScalar);
      entries += isScalar ? sizeof(void *) : sizeof(HostSpan);
    }
  }

  void fillEdge(const VertexField &field, const FieldSlot &slot,
                std::byte *target, bool isScalar) {
    void *data = addressOfEdge(field, slot);
    if (isScalar) {
      put(target, data);
    } else {
      put(target, HostSpan{data, static_cast<std::uint64_t>(slot.count)});
    }
  }

  void *addressOfEdge(const VertexField &field, const FieldSlot &slot) {
    if (slot.count == 0) {
      return nullptr;
    }
    internal::forEachRun(table_, slot,
                         [&](internal::VariableId variable, std::int64_t begin,
                             std::int64_t count) {
                           touch(variable, begin, begin + count,
                                 field.isWritten());
                         });
    if (slot.kind == Kind::Run) {
      return address(internal::VariableId(slot.index)) +
             static_cast<std::size_t>(slot.begin) * support::sizeOf(field.type);
    }
    std::byte *packed = set_.packed_.data() + packedUsed_;
    packedUsed_ += packedBytes(slot, field);
    set_.shards_.back().scattered.push_back(
        {&table_.views[slot.index], packed, field.isWritten()});
    return packed;
  }

  std::byte *address(internal::VariableId variable) {
    std::byte *&known = set_.addresses_[variable.index()];
    if (known == nullptr) {
      known = addressOf_(variable);
    }
    return known;
  }

  void touch(internal::VariableId variable, std::int64_t begin,
             std::int64_t end, bool isWritten) {
    address(variable);
    const auto [found, isNew] = touches_.try_emplace(
        {variable, isWritten}, Touch{variable, begin, end, isWritten});
    found->second.begin = std::min(found->second.begin, begin);
    found->second.end = std::max(found->second.end, end);
  }

  void finishShard() {
    for (const auto &[key, touch] : touches_) {
      set_.shards_.back().touches.push_back(touch);
    }
    touches_.clear();
  }

  template <typename T> static void put(std::byte *target, const T &value) {
    std::memcpy(target, &value, sizeof(T));
  }

  VertexSet &set_;
  const VertexTable &table_;
  const AddressOf &addressOf_;
  std::size_t objectsUsed_ = 0;
  std::size_t tablesUsed_ = 0;
  std::size_t packedUsed_ = 0;
  std::map<std::pair<internal::VariableId, bool>, Touch> touches_;
};

VertexSet::VertexSet(const internal::GraphData &graph,
                     internal::ComputeSetId computeSet,
                     const AddressOf &addressOf) {
  Builder(*this, graph, addressOf)
      .build(graph.computeSets[computeSet.index()].vertices);
}

void VertexSet::restore() {
  if (!pristine_.empty()) {
    std::memcpy(objects_.data(), pristine_.data(), objects_.size());
    std::memcpy(tables_.data(), pristine_.data() + objects_.size(),
                tables_.size());
  }
}

bool VertexSet::run(std::size_t shard) const {
  const Shard &work = shards_[shard];
  for (const Scattered &edge : work.scattered) {
    gather(*edge.view, addresses_.data(), edge.packed);
  }
  bool isSuccess = true;
  for (const Batch &batch : work.batches) {
    isSuccess =
        batch.type->run(batch.first, batch.stride, batch.count) && isSuccess;
  }
  for (const Scattered &edge : work.scattered) {
    if (edge.isWritten) {
      scatter(edge.packed, *edge.view, addresses_.data());
    }
  }
  return isSuccess;
}

VertexSet &VertexSets::of(internal::ComputeSetId computeSet) {
  std::unique_ptr<VertexSet> &set = sets_[computeSet.index()];
  if (set == nullptr) {
    set = std::make_unique<VertexSet>(graph_, computeSet, addressOf_);
  }
  return *set;
}

void VertexSets::restore() {
  for (const std::unique_ptr<VertexSet> &set : sets_) {
    if (set != nullptr) {
      set->restore();
    }
  }
}

} // namespace poplar::engine
