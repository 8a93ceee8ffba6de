#include "engine/VariableStore.hpp"

#include <algorithm>
#include <cstring>

namespace poplar::engine {
namespace {

std::size_t byteSize(const internal::Variable &variable) {
  return static_cast<std::size_t>(variable.elements()) *
         support::sizeOf(variable.type);
}

} // namespace

VariableStore::VariableStore(const internal::GraphData &graph,
                             const std::vector<bool> &isStored)
    : graph_(graph) {
  buffers_.resize(graph.variables.size());
  for (std::size_t v = 0; v < graph.variables.size(); ++v) {
    if (isStored[v]) {
      store(internal::VariableId(v));
    }
  }
}

void VariableStore::reset() {
  for (std::size_t v = 0; v < graph_.variables.size(); ++v) {
    const std::vector<std::byte> &initial = graph_.variables[v].initialData;
    std::byte *data = buffers_[v].data();
    if (data == nullptr) {
      continue;
    }
    std::fill(data, data + buffers_[v].size(), std::byte{0});
    std::copy(initial.begin(), initial.end(), data);
  }
}

internal::VariableId VariableStore::add(std::size_t bytes) {
  buffers_.emplace_back(bytes);
  return internal::VariableId(buffers_.size() - 1);
}

void VariableStore::store(internal::VariableId variable) {
  AlignedBuffer &buffer = buffers_[variable.index()];
  if (buffer.data() == nullptr) {
    buffer = AlignedBuffer(byteSize(graph_[variable]));
  }
}

std::byte *VariableStore::data(internal::VariableId variable) const {
  const AlignedBuffer &buffer = buffers_[variable.index()];
  if (buffer.data() != nullptr || !graph_[variable].isConstant) {
    return buffer.data();
  }
  // Nobody writes a constant (CheckPrograms.cpp).
  return const_cast<std::byte *>(graph_[variable].initialData.data());
}

std::size_t VariableStore::bytes() const {
  std::size_t sum = 0;
  for (const AlignedBuffer &buffer : buffers_) {
    sum += buffer.size();
  }
  return sum;
}

void VariableStore::pack(const internal::TensorView &view,
                         std::byte *packed) const {
  const std::size_t size = support::sizeOf(view.type);
  internal::forEachRun(view, [&](internal::VariableId variable,
                                 std::int64_t first, std::int64_t count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * size;
    std::memcpy(packed, data(variable) + static_cast<std::size_t>(first) * size,
                bytes);
    packed += bytes;
  });
}

void VariableStore::unpack(const std::byte *packed,
                           const internal::TensorView &view) const {
  const std::size_t size = support::sizeOf(view.type);
  internal::forEachRun(view, [&](internal::VariableId variable,
                                 std::int64_t first, std::int64_t count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * size;
    std::memcpy(data(variable) + static_cast<std::size_t>(first) * size, packed,
                bytes);
    packed += bytes;
  });
}

} // namespace poplar::engine
