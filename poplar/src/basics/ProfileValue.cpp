#include <poplar/ProfileValue.hpp>

#include <nlohmann/json.hpp>
#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <array>
#include <string_view>
#include <utility>
#include <variant>

namespace poplar {

// Integers that fit are std::int64_t, so that equal ones are stored alike.
struct ProfileValue::Data {
  std::variant<bool, std::string, double, std::int64_t, std::uint64_t, Vector,
               Map>
      value;

  static nlohmann::json toJson(const ProfileValue &value);
};

namespace {

constexpr std::array<std::string_view, 6> typeNames = {
    "a boolean", "a string", "a number", "a vector", "a map", "null"};

std::string_view nameOf(ProfileValue::Type type) {
  return typeNames[static_cast<std::size_t>(type)];
}

// `number` as an integer of type To; `To` holds its integral part or this
// throws.
template <typename To, typename From> To toInteger(From number) {
  bool fits = false;
  if constexpr (std::is_floating_point_v<From>) {
    // 2^63 and 2^64 are doubles, unlike the largest integers below them.
    constexpr double limit = std::is_signed_v<To> ? 0x1p63 : 0x1p64;
    fits = number < limit &&
           (std::is_signed_v<To> ? number >= -limit : number > -1.0);
  } else {
    fits = std::in_range<To>(number);
  }
  support::requireUser<overflow_error>(
      fits, "[poplar::ProfileValue] {} does not fit a {} 64-bit integer",
      number, std::is_signed_v<To> ? "signed" : "unsigned");
  return static_cast<To>(number);
}

template <typename Number>
Number sumOf(const ProfileValue &value,
             Number (ProfileValue::*asNumber)() const) {
  if (value.type() != ProfileValue::Type::VECTOR) {
    return (value.*asNumber)();
  }
  Number sum = 0;
  for (const ProfileValue &element : value.asVector()) {
    sum += sumOf(element, asNumber);
  }
  return sum;
}

} // namespace

nlohmann::json ProfileValue::Data::toJson(const ProfileValue &value) {
  if (value.data_ == nullptr) {
    return nullptr;
  }
  return std::visit(
      [](const auto &content) {
        using Content = std::decay_t<decltype(content)>;
        nlohmann::json json;
        if constexpr (std::is_same_v<Content, Vector>) {
          json = nlohmann::json::array();
          for (const ProfileValue &element : content) {
            json.push_back(toJson(element));
          }
        } else if constexpr (std::is_same_v<Content, Map>) {
          json = nlohmann::json::object();
          for (const auto &[key, element] : content) {
            json[key] = toJson(element);
          }
        } else {
          json = content;
        }
        return json;
      },
      value.data_->value);
}

ProfileValue::ProfileValue() = default;
ProfileValue::ProfileValue(bool value)
    : data_(std::make_unique<Data>(Data{value})) {}
ProfileValue::ProfileValue(int value)
    : ProfileValue(static_cast<long long>(value)) {}
ProfileValue::ProfileValue(unsigned value)
    : ProfileValue(static_cast<long long>(value)) {}
ProfileValue::ProfileValue(long value)
    : ProfileValue(static_cast<long long>(value)) {}
ProfileValue::ProfileValue(unsigned long value)
    : ProfileValue(static_cast<unsigned long long>(value)) {}
ProfileValue::ProfileValue(long long value)
    : data_(std::make_unique<Data>(Data{std::int64_t{value}})) {}
ProfileValue::ProfileValue(unsigned long long value)
    : data_(std::make_unique<Data>()) {
  if (std::in_range<std::int64_t>(value)) {
    data_->value = static_cast<std::int64_t>(value);
  } else {
    data_->value = std::uint64_t{value};
  }
}
ProfileValue::ProfileValue(double value)
    : data_(std::make_unique<Data>(Data{value})) {}
ProfileValue::ProfileValue(const char *value)
    : ProfileValue(std::string(value)) {}
ProfileValue::ProfileValue(StringRef value)
    : ProfileValue(value.cloneAsString()) {}
ProfileValue::ProfileValue(std::string value)
    : data_(std::make_unique<Data>(Data{std::move(value)})) {}
ProfileValue::ProfileValue(Vector value)
    : data_(std::make_unique<Data>(Data{std::move(value)})) {}
ProfileValue::ProfileValue(Map value)
    : data_(std::make_unique<Data>(Data{std::move(value)})) {}
ProfileValue::~ProfileValue() = default;
ProfileValue::ProfileValue(const ProfileValue &other)
    : data_(other.data_ ? std::make_unique<Data>(*other.data_) : nullptr) {}
ProfileValue::ProfileValue(ProfileValue &&other) noexcept = default;
ProfileValue &ProfileValue::operator=(const ProfileValue &other) {
  return *this = ProfileValue(other);
}
ProfileValue &ProfileValue::operator=(ProfileValue &&other) noexcept = default;

ProfileValue::Type ProfileValue::type() const {
  // In the order of the variant.
  constexpr std::array<Type, 7> types = {
      Type::BOOL,   Type::STRING, Type::NUMBER, Type::NUMBER,
      Type::NUMBER, Type::VECTOR, Type::MAP};
  return data_ == nullptr ? Type::NONE : types[data_->value.index()];
}

const ProfileValue::Data &ProfileValue::get(Type wanted) const {
  support::requireUser<type_error>(
      type() == wanted, "[poplar::ProfileValue] the value is {}, not {}",
      nameOf(type()), nameOf(wanted));
  return *data_;
}

bool ProfileValue::asBool() const {
  return std::get<bool>(get(Type::BOOL).value);
}

const std::string &ProfileValue::asString() const {
  return std::get<std::string>(get(Type::STRING).value);
}

double ProfileValue::asDouble() const {
  const auto &value = get(Type::NUMBER).value;
  if (const double *number = std::get_if<double>(&value)) {
    return *number;
  }
  if (const std::int64_t *number = std::get_if<std::int64_t>(&value)) {
    return static_cast<double>(*number);
  }
  return static_cast<double>(std::get<std::uint64_t>(value));
}

std::int64_t ProfileValue::asInt() const {
  const auto &value = get(Type::NUMBER).value;
  if (const std::int64_t *number = std::get_if<std::int64_t>(&value)) {
    return *number;
  }
  if (const double *number = std::get_if<double>(&value)) {
    return toInteger<std::int64_t>(*number);
  }
  return toInteger<std::int64_t>(std::get<std::uint64_t>(value));
}

std::uint64_t ProfileValue::asUint() const {
  const auto &value = get(Type::NUMBER).value;
  if (const std::uint64_t *number = std::get_if<std::uint64_t>(&value)) {
    return *number;
  }
  if (const double *number = std::get_if<double>(&value)) {
    return toInteger<std::uint64_t>(*number);
  }
  return toInteger<std::uint64_t>(std::get<std::int64_t>(value));
}

const ProfileValue::Vector &ProfileValue::asVector() const {
  return std::get<Vector>(get(Type::VECTOR).value);
}
ProfileValue::Vector &ProfileValue::asVector() {
  get(Type::VECTOR);
  return std::get<Vector>(data_->value);
}
const ProfileValue::Map &ProfileValue::asMap() const {
  return std::get<Map>(get(Type::MAP).value);
}
ProfileValue::Map &ProfileValue::asMap() {
  get(Type::MAP);
  return std::get<Map>(data_->value);
}

std::size_t ProfileValue::size() const {
  return type() == Type::MAP ? asMap().size() : asVector().size();
}

const ProfileValue &ProfileValue::operator[](std::size_t index) const {
  const Vector &elements = asVector();
  if (index >= elements.size()) {
    throw index_error("a ProfileValue of " + std::to_string(elements.size()) +
                          " elements",
                      index);
  }
  return elements[index];
}

const ProfileValue &ProfileValue::operator[](StringRef key) const {
  const auto found = asMap().find(key);
  support::requireUser<poplar_error>(found != asMap().end(),
                                     "[poplar::ProfileValue] no key '{}'",
                                     key.cloneAsString());
  return found->second;
}

const ProfileValue &ProfileValue::getOrNull(StringRef key) const {
  const auto found = asMap().find(key);
  return found == asMap().end() ? getNull() : found->second;
}

const ProfileValue &ProfileValue::getNull() {
  static const ProfileValue null;
  return null;
}

double ProfileValue::sumDouble() const {
  return sumOf(*this, &ProfileValue::asDouble);
}
std::int64_t ProfileValue::sumInt() const {
  return sumOf(*this, &ProfileValue::asInt);
}
std::uint64_t ProfileValue::sumUint() const {
  return sumOf(*this, &ProfileValue::asUint);
}

bool ProfileValue::isSame(const ProfileValue &other) const {
  return Data::toJson(*this) == Data::toJson(other);
}

void serializeToJSON(std::ostream &stream, const ProfileValue &value,
                     bool prettyPrint) {
  // Names may be any bytes; those that are not UTF-8 become U+FFFD.
  stream << ProfileValue::Data::toJson(value).dump(
      prettyPrint ? 2 : -1, ' ', false,
      nlohmann::json::error_handler_t::replace);
}

void serializeToCBOR(std::ostream &stream, const ProfileValue &value,
                     bool withTag) {
  if (withTag) {
    stream.write("\xd9\xd9\xf7", 3);
  }
  const auto bytes = nlohmann::json::to_cbor(ProfileValue::Data::toJson(value));
  stream.write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

std::ostream &operator<<(std::ostream &stream, const ProfileValue &value) {
  serializeToJSON(stream, value);
  return stream;
}

} // namespace poplar
