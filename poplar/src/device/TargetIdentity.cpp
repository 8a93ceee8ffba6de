// What a target is as a whole: comparing, hashing, writing and reading it.
#include <poplar/Target.hpp>

#include <nlohmann/json.hpp>
#include <poplar/exceptions.hpp>
#include <poplar/internal/Access.hpp>
#include <poplar/internal/TargetFields.hpp>
#include <support/Error.hpp>

#include <array>
#include <cstring>
#include <tuple>

namespace poplar {

using internal::TargetData;
using internal::targetFields;

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes encode(const TargetData &data) {
  nlohmann::json values = nlohmann::json::array();
  std::apply([&](const auto &...field) { (values.push_back(field), ...); },
             targetFields(data));
  return nlohmann::json::to_cbor(values);
}

TargetData decode(const Bytes &bytes) {
  const nlohmann::json values = nlohmann::json::from_cbor(bytes);
  TargetData data;
  std::size_t next = 0;
  std::apply([&](auto &...field) { (values.at(next++).get_to(field), ...); },
             targetFields(data));
  return data;
}

// FNV-1a: enough to notice damage, and the same in every build.
std::uint64_t checksum(const Bytes &bytes) {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (std::uint8_t byte : bytes) {
    sum = (sum ^ byte) * 0x100000001b3;
  }
  return sum;
}

// In front of the bytes; the last character of the magic is the version.
struct Frame {
  std::array<char, 8> magic;
  std::uint64_t size;
  std::uint64_t sum;
};
constexpr std::array<char, 8> frameMagic = {'A', 'S', 'P', 'E',
                                            'N', 'T', 'G', '1'};
constexpr std::uint64_t largestSize = 65536;

void requireReadable(bool condition, const char *reason) {
  support::requireUser<poplar_error>(
      condition,
      "[poplar::Target] the stream does not hold a target of this version: {}",
      reason);
}

Bytes readFrame(std::istream &stream) {
  Frame frame = {};
  stream.read(reinterpret_cast<char *>(&frame), sizeof frame);
  requireReadable(stream && frame.magic == frameMagic &&
                      frame.size <= largestSize,
                  "no header");
  Bytes bytes(frame.size);
  stream.read(reinterpret_cast<char *>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
  requireReadable(stream && checksum(bytes) == frame.sum,
                  "cut short or damaged");
  return bytes;
}

} // namespace

Target::Target(std::istream &stream) {
  const Bytes bytes = readFrame(stream);
  try {
    *this = internal::makeTarget(decode(bytes));
  } catch (const nlohmann::json::exception &error) {
    requireReadable(false, error.what());
  }
}

void Target::serialize(std::ostream &stream) const {
  const Bytes bytes = encode(data());
  const Frame frame = {frameMagic, bytes.size(), checksum(bytes)};
  stream.write(reinterpret_cast<const char *>(&frame), sizeof frame);
  stream.write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  support::requireUser<poplar_error>(
      stream.good(), "[poplar::Target::serialize] cannot write to the stream");
}

std::size_t Target::hash() const {
  return checksum(encode(data()));
}

bool Target::isSame(const Target &other) const {
  if (data_ == nullptr || other.data_ == nullptr) {
    return data_ == other.data_;
  }
  return targetFields(*data_) == targetFields(*other.data_);
}

bool Target::isLess(const Target &other) const {
  return targetFields(data()) < targetFields(other.data());
}

} // namespace poplar
