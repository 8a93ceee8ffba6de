// A JSON-like value: what debug information and profiles are made of. A value
// type; copies are deep.
#pragma once

#include <poplar/StringRef.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace poplar {

class ProfileValue {
public:
  using Boolean = bool;
  using Number = double;
  using String = std::string;
  using Vector = std::vector<ProfileValue>;
  using Map = std::map<std::string, ProfileValue>;

  // NONE is a default-constructed value, JSON's null.
  enum class Type { BOOL, STRING, NUMBER, VECTOR, MAP, NONE };

  ProfileValue();
  ProfileValue(bool value);
  // Integers keep all their bits.
  ProfileValue(int value);
  ProfileValue(unsigned value);
  ProfileValue(long value);
  ProfileValue(unsigned long value);
  ProfileValue(long long value);
  ProfileValue(unsigned long long value);
  ProfileValue(double value);
  ProfileValue(const char *value);
  ProfileValue(StringRef value);
  ProfileValue(std::string value);
  ProfileValue(Vector value);
  ProfileValue(Map value);
  ~ProfileValue();
  ProfileValue(const ProfileValue &other);
  ProfileValue(ProfileValue &&other) noexcept;
  ProfileValue &operator=(const ProfileValue &other);
  ProfileValue &operator=(ProfileValue &&other) noexcept;

  Type type() const;

  // Throw type_error if the value is of another type. A number that does not
  // fit the integer asked for is an overflow_error; fractions are cut off.
  bool asBool() const;
  const std::string &asString() const;
  double asDouble() const;
  std::int64_t asInt() const;
  std::uint64_t asUint() const;
  const Vector &asVector() const;
  Vector &asVector();
  const Map &asMap() const;
  Map &asMap();

  // The elements of a vector or map. operator[] throws poplar_error if there
  // is no such element; getOrNull() is null then.
  std::size_t size() const;
  const ProfileValue &operator[](std::size_t index) const;
  const ProfileValue &operator[](StringRef key) const;
  const ProfileValue &getOrNull(StringRef key) const;
  static const ProfileValue &getNull();

  // The sum of the numbers in a vector and in the vectors inside it; a number
  // is its own sum.
  double sumDouble() const;
  std::int64_t sumInt() const;
  std::uint64_t sumUint() const;

  friend bool operator==(const ProfileValue &a, const ProfileValue &b) {
    return a.isSame(b);
  }
  friend bool operator!=(const ProfileValue &a, const ProfileValue &b) {
    return !(a == b);
  }
  friend void serializeToJSON(std::ostream &stream, const ProfileValue &value,
                              bool prettyPrint);
  friend void serializeToCBOR(std::ostream &stream, const ProfileValue &value,
                              bool withTag);

private:
  struct Data;

  const Data &get(Type wanted) const;
  bool isSame(const ProfileValue &other) const;

  std::unique_ptr<Data> data_; // none: null
};

void serializeToJSON(std::ostream &stream, const ProfileValue &value,
                     bool prettyPrint = false);
// `withTag` starts with the tag by which CBOR (RFC 8949) describes itself.
void serializeToCBOR(std::ostream &stream, const ProfileValue &value,
                     bool withTag = true);
std::ostream &operator<<(std::ostream &stream, const ProfileValue &value);

} // namespace poplar
