// What a Device is: a target and, for hardware, the IPUs that it stands on.
#pragma once

#include "HardwareClaim.hpp"

#include <poplar/Device.hpp>

#include <memory>

namespace poplar {

class DeviceImpl {
public:
  Target target;
  unsigned id = 0;
  std::shared_ptr<internal::HardwareClaim> claim; // null for models and CPUs
};

} // namespace poplar
