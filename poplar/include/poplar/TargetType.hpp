// What a device is: (emulated) hardware, the IPU Model or the host's CPU.
#pragma once

#include <ostream>

namespace poplar {

enum class TargetType { IPU, IPU_MODEL, CPU };

inline const char *toString(TargetType type) {
  return type == TargetType::IPU         ? "IPU"
         : type == TargetType::IPU_MODEL ? "IPU_MODEL"
                                         : "CPU";
}

inline std::ostream &operator<<(std::ostream &stream, TargetType type) {
  return stream << toString(type);
}

} // namespace poplar
