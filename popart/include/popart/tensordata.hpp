// The bytes of a constant, or of a variable on the host.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace popart {

// Copies share their bytes until one of them is changed.
class TensorData {
public:
  TensorData() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): takes the place of one
  TensorData(std::vector<char> bytes)
      : bytes_(std::make_shared<std::vector<char>>(std::move(bytes))) {}

  const std::vector<char> &bytes() const {
    static const std::vector<char> none;
    return bytes_ ? *bytes_ : none;
  }
  const char *data() const { return bytes().data(); }
  std::size_t size() const { return bytes().size(); }
  bool empty() const { return bytes().empty(); }
  std::vector<char>::const_iterator begin() const { return bytes().begin(); }
  std::vector<char>::const_iterator end() const { return bytes().end(); }
  char operator[](std::size_t index) const { return bytes()[index]; }

  // For writing: bytes that nobody else has.
  char *change() {
    if (bytes_.use_count() != 1) {
      *this = std::vector<char>(bytes());
    }
    return bytes_->data();
  }

  // The bytes as they are now, whatever becomes of these.
  std::shared_ptr<const void> share() const { return {bytes_, data()}; }

  friend bool operator==(const TensorData &a, const TensorData &b) {
    return a.bytes() == b.bytes();
  }

private:
  std::shared_ptr<std::vector<char>> bytes_; // null: none
};

} // namespace popart
