#include "engine/VariableStore.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace poplar::engine {
namespace {

std::size_t byteSize(const internal::Variable &variable) {
  return static_cast<std::size_t>(variable.elements()) *
         support::sizeOf(variable.type);
}

// Calls f(variable, offset, bytes, packedOffset) for the runs of a view, in its
// order; all but the variable are counted in bytes.
template <typename F>
void forEachByteRun(const internal::TensorView &view, F &&f) {
  const std::size_t size = support::sizeOf(view.type);
  std::size_t packed = 0;
  internal::forEachRun(view, [&](internal::VariableId variable,
                                 std::int64_t first, std::int64_t count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * size;
    f(variable, static_cast<std::size_t>(first) * size, bytes, packed);
    packed += bytes;
  });
}

} // namespace

VariableStore::VariableStore(const internal::GraphData &graph,
                             const std::vector<bool> &isStored)
    : graph_(graph), places_(graph.variables.size()) {
  for (std::size_t v = 0; v < graph.variables.size(); ++v) {
    if (isStored[v]) {
      store(internal::VariableId(v));
    }
  }
}

void VariableStore::reset() {
  for (std::size_t v = 0; v < graph_.variables.size(); ++v) {
    Place &place = places_[v];
    place.lent = nullptr;
    if (!place.isForGood) {
      leave(place);
      continue;
    }
    const std::vector<std::byte> &initial = graph_.variables[v].initialData;
    std::byte *data = place.own.data();
    std::fill(data, data + place.own.size(), std::byte{0});
    std::copy(initial.begin(), initial.end(), data);
  }
}

internal::VariableId VariableStore::add(std::size_t bytes) {
  places_.push_back({AlignedBuffer(bytes), nullptr, true});
  bytes_ += bytes;
  return internal::VariableId(places_.size() - 1);
}

void VariableStore::store(internal::VariableId variable) {
  own(variable);
  places_[variable.index()].isForGood = true;
}

void VariableStore::requireValue(internal::VariableId variable) {
  if (data(variable) == nullptr) {
    own(variable);
  }
}

std::byte *VariableStore::own(internal::VariableId variable) {
  Place &place = places_[variable.index()];
  if (place.own.data() == nullptr) {
    AlignedBuffer buffer(byteSize(graph_[variable])); // of zeros
    if (const std::byte *value = data(variable)) {
      std::copy_n(value, buffer.size(), buffer.data());
    }
    place.own = std::move(buffer);
    place.lent = nullptr;
    bytes_ += place.own.size();
  }
  return place.own.data();
}

void VariableStore::leave(Place &place) {
  bytes_ -= place.own.size();
  place.own = AlignedBuffer();
}

std::byte *VariableStore::data(internal::VariableId variable) const {
  const Place &place = places_[variable.index()];
  if (place.own.data() != nullptr) {
    return place.own.data();
  }
  if (place.lent != nullptr) {
    return const_cast<std::byte *>(place.lent.get());
  }
  const std::vector<std::byte> &initial = graph_[variable].initialData;
  return initial.empty() ? nullptr : const_cast<std::byte *>(initial.data());
}

void VariableStore::pack(const internal::TensorView &view,
                         std::byte *packed) const {
  forEachByteRun(view, [&](internal::VariableId variable, std::size_t offset,
                           std::size_t bytes, std::size_t at) {
    if (const std::byte *value = data(variable)) {
      std::memcpy(packed + at, value + offset, bytes);
    } else {
      std::memset(packed + at, 0, bytes);
    }
  });
}

void VariableStore::unpack(const std::byte *packed,
                           const internal::TensorView &view) {
  forEachByteRun(view, [&](internal::VariableId variable, std::size_t offset,
                           std::size_t bytes, std::size_t at) {
    std::memcpy(own(variable) + offset, packed + at, bytes);
  });
}

void VariableStore::lend(const std::shared_ptr<const std::byte> &packed,
                         const internal::TensorView &view) {
  const bool isAligned = reinterpret_cast<std::uintptr_t>(packed.get()) %
                             support::sizeOf(view.type) ==
                         0;
  forEachByteRun(view, [&](internal::VariableId variable, std::size_t offset,
                           std::size_t bytes, std::size_t at) {
    Place &place = places_[variable.index()];
    if (place.isForGood || !isAligned || bytes != byteSize(graph_[variable])) {
      std::memcpy(own(variable) + offset, packed.get() + at, bytes);
      return;
    }
    leave(place);
    place.lent = {packed, packed.get() + at};
  });
}

bool VariableStore::isAt(const std::byte *packed,
                         const internal::TensorView &view) const {
  bool isThere = true;
  forEachByteRun(view, [&](internal::VariableId variable, std::size_t offset,
                           std::size_t, std::size_t at) {
    const std::byte *lent = places_[variable.index()].lent.get();
    isThere = isThere && lent != nullptr && lent + offset == packed + at;
  });
  return isThere;
}

} // namespace poplar::engine
