#include "HardwareClaim.hpp"

#include "Registry.hpp"

namespace poplar::internal {

bool HardwareClaim::acquire() {
  const bool isHeld = registry_.acquire(*this);
  if (isHeld) {
    publishHostBytes();
  }
  return isHeld;
}

void HardwareClaim::release() noexcept {
  registry_.release(*this);
}

void HardwareClaim::addHostBytes(std::int64_t bytes) noexcept {
  hostBytes_ += static_cast<std::uint64_t>(bytes);
  publishHostBytes();
}

void HardwareClaim::publishHostBytes() noexcept {
  if (Activity *activity = activity_) {
    std::atomic_ref(activity->hostBytes)
        .store(hostBytes_, std::memory_order_relaxed);
  }
}

} // namespace poplar::internal
