// Which release of the SDK the interface is that of, and the hash that tells
// builds apart: libraries, tools and executables say the same.
#pragma once

namespace poplar::internal {

inline constexpr const char *interfaceVersion = "3.3.0";
// The ten hexadecimal digits that programs look for in `popc --version`.
inline constexpr const char *packageHash = "a59be17e00";

} // namespace poplar::internal
