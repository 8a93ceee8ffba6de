// SHA-256 (FIPS 180-4): names for contents in caches, and checksums of files
// that must be whole.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace support {

class Sha256 {
public:
  using Digest = std::array<std::byte, 32>;

  // Adds to what has been hashed so far.
  void add(std::span<const std::byte> bytes);
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }

  // Of everything added; nothing can be added afterwards.
  Digest digest();

  static Digest of(std::span<const std::byte> bytes);

private:
  void addBlock(const std::byte *block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                         0xa54ff53a, 0x510e527f, 0x9b05688c,
                                         0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> pending_{}; // the start of a block
  std::uint64_t size_ = 0;              // bytes added
};

std::string toHex(const Sha256::Digest &digest);

} // namespace support
