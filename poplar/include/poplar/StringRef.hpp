// A borrowed string: how the API takes std::string and literals alike.
#pragma once

#include <poplar/ArrayRef.hpp>

#include <cstring>
#include <ostream>
#include <string>

namespace poplar {

class StringRef : public ArrayRef<char> {
public:
  StringRef() = default;
  StringRef(std::nullptr_t) = delete;
  StringRef(const char *text) : ArrayRef<char>(text, std::strlen(text)) {}
  StringRef(const char *text, std::size_t size) : ArrayRef<char>(text, size) {}
  StringRef(const std::string &text)
      : ArrayRef<char>(text.data(), text.size()) {}

  operator std::string() const { return cloneAsString(); }
  std::string cloneAsString() const {
    return empty() ? std::string() : std::string(data(), size());
  }

  int compare(StringRef other) const {
    return cloneAsString().compare(other.cloneAsString());
  }

  friend bool operator==(StringRef a, StringRef b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
  }
  friend bool operator!=(StringRef a, StringRef b) { return !(a == b); }
  friend bool operator<(StringRef a, StringRef b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  }
  friend std::string operator+(const std::string &a, StringRef b) {
    return a + b.cloneAsString();
  }
  friend std::string operator+(StringRef a, const std::string &b) {
    return a.cloneAsString() + b;
  }
  friend std::ostream &operator<<(std::ostream &stream, StringRef text) {
    return stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  }
};

} // namespace poplar
