#include "HardwareClaim.hpp"

#include "Registry.hpp"

namespace poplar::internal {

bool HardwareClaim::acquire() {
  return registry_.acquire(*this);
}

void HardwareClaim::release() noexcept {
  registry_.release(*this);
}

} // namespace poplar::internal
