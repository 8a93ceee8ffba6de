// Reads IDX files, the format of MNIST: two zero bytes, the type of the values
// (8: unsigned bytes), the number of dimensions, their sizes as big-endian
// 32-bit numbers, then the values, row by row.
#pragma once

#include <cstddef>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

struct Idx {
  std::vector<std::size_t> shape;
  std::vector<unsigned char> values;
};

// The file must have as many dimensions as `rank` and exactly the values that
// its header promises; what is wrong otherwise is in the exception.
inline Idx readIdx(const std::string &name, std::size_t rank) {
  std::ifstream file(name, std::ios::binary);
  if (!file) {
    throw std::runtime_error("cannot read " + name);
  }
  const std::string bytes((std::istreambuf_iterator<char>(file)),
                          std::istreambuf_iterator<char>());
  const std::size_t headerSize = 4 + 4 * rank;
  if (bytes.size() < headerSize) {
    throw std::runtime_error(name + " is too short for an IDX header");
  }
  const auto byte = [&](std::size_t at) {
    return static_cast<unsigned char>(bytes[at]);
  };
  if (byte(0) == 0x1f && byte(1) == 0x8b) {
    throw std::runtime_error(name + " is compressed: unpack it with gunzip");
  }
  if (byte(0) != 0 || byte(1) != 0 || byte(2) != 8) {
    throw std::runtime_error(name + " is not an IDX file of bytes");
  }
  if (byte(3) != rank) {
    throw std::runtime_error(name + " has " + std::to_string(byte(3)) +
                             " dimensions, not " + std::to_string(rank));
  }
  Idx idx;
  std::size_t count = 1;
  for (std::size_t at = 4; at < headerSize; at += 4) {
    idx.shape.push_back((std::size_t(byte(at)) << 24) |
                        (std::size_t(byte(at + 1)) << 16) |
                        (std::size_t(byte(at + 2)) << 8) | byte(at + 3));
    count *= idx.shape.back();
  }
  if (bytes.size() - headerSize != count) {
    throw std::runtime_error(
        name + " has " + std::to_string(bytes.size() - headerSize) +
        " values; its header says " + std::to_string(count));
  }
  idx.values.assign(bytes.begin() + headerSize, bytes.end());
  return idx;
}
