#include <poplar/internal/LentTensors.hpp>

#include "engine/EngineImpl.hpp"

namespace poplar::internal {

void lendTensor(Engine &engine, StringRef handle,
                const std::shared_ptr<const void> &bytes, std::size_t size) {
  implOf(engine).lendTensor(
      handle, std::static_pointer_cast<const std::byte>(bytes), size);
}

bool isLent(const Engine &engine, StringRef handle, const void *bytes) {
  return implOf(engine).isLent(handle, bytes);
}

} // namespace poplar::internal
