// Executables as strings of bytes, whole, cut and changed.
#pragma once

#include "engine/ExecutableImpl.hpp"

#include <poplar/exceptions.hpp>
#include <support/Sha256.hpp>

#include <cstring>
#include <functional>
#include <memory>
#include <sstream>
#include <string>

namespace poplar::test {

inline std::string toBytes(const Executable &executable) {
  std::ostringstream stream;
  executable.serialize(stream);
  return stream.str();
}

inline Executable fromBytes(const std::string &bytes,
                            bool checkPackageHash = true) {
  return Executable::deserialize(std::make_unique<std::istringstream>(bytes),
                                 checkPackageHash);
}

using Reading = ExecutableImpl::Reading;
using Change = std::function<void(Reading &)>;

// An executable that no compiler would make.
inline Executable changed(const Executable &executable, const Change &change) {
  Reading reading = executable.impl()->values();
  change(reading);
  const auto shared = std::make_shared<const Reading>(std::move(reading));
  return Executable(std::make_shared<const ExecutableImpl>(
      shared, shared, executable.impl()->options()));
}

// Makes the checksum at the end that of the bytes before it.
inline std::string repaired(std::string bytes) {
  constexpr std::size_t size = sizeof(support::Sha256::Digest);
  const std::string_view covered(bytes.data(), bytes.size() - size);
  const auto digest = support::Sha256::of(std::as_bytes(std::span(covered)));
  std::memcpy(bytes.data() + covered.size(), digest.data(), size);
  return bytes;
}

} // namespace poplar::test
