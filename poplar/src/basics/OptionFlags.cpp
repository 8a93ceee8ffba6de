#include <poplar/OptionFlags.hpp>

#include <nlohmann/json.hpp>
#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <cstdlib>

namespace poplar {
namespace {

// `source` says in messages where the text comes from.
void addFlags(const std::string &source, const std::string &text,
              OptionFlags &flags) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  support::requireUser<parse_error>(
      json.is_object(),
      "{}: '{}' given; it must be a JSON object of strings, such as "
      "{{\"debug.instrument\":\"true\"}}",
      source, text);
  OptionFlags result = flags;
  for (const auto &[name, value] : json.items()) {
    support::requireUser<parse_error>(
        value.is_string(), "{}: the value of '{}' is {}; it must be a string",
        source, name, value.dump());
    result.set(name, value.get<std::string>());
  }
  flags = std::move(result);
}

} // namespace

OptionFlags::OptionFlags(std::initializer_list<OptionFlag> flags) {
  set(flags);
}

void OptionFlags::set(StringRef name, StringRef value) {
  flags_[name] = value.cloneAsString();
}

void OptionFlags::set(std::initializer_list<OptionFlag> flags) {
  for (const OptionFlag &flag : flags) {
    flags_[flag.first] = flag.second;
  }
}

StringRef OptionFlags::at(StringRef name) const {
  auto found = flags_.find(name);
  support::requireUser<invalid_option>(
      found != flags_.end(), "[poplar::OptionFlags::at] no option \"{}\"",
      name.cloneAsString());
  return found->second;
}

OptionFlags::iterator OptionFlags::find(StringRef name) const {
  return flags_.find(name);
}

void readJSON(StringRef text, OptionFlags &flags) {
  addFlags("[poplar::readJSON]", text, flags);
}

void readJSONFromEnv(StringRef variable, OptionFlags &flags) {
  const std::string name = variable;
  const char *text = std::getenv(name.c_str());
  if (text != nullptr && *text != '\0') {
    addFlags(name, text, flags);
  }
}

} // namespace poplar
