#include "SystemFile.hpp"

#include "LinkNames.hpp"
#include "NearestName.hpp"
#include "SystemText.hpp"
#include "Units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poplar/exceptions.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

namespace poplar::internal {
namespace {

using Json = nlohmann::json;
using Path = std::filesystem::path;

// How many files may be based on each other: more is a circle.
constexpr unsigned mostBases = 8;
constexpr std::size_t longestName = 64;

// Where a set of keys is found; each has keys and figures of its own.
enum class Place : std::uint8_t { ChipFile, ChipOfSystem, SystemFile };

bool isFigureOf(const Figure &figure, Place place) {
  switch (figure.part) {
  case FigurePart::Chip:
    return place != Place::SystemFile;
  case FigurePart::Connection:
    return place != Place::ChipOfSystem;
  case FigurePart::System:
    break;
  }
  return place == Place::SystemFile;
}

std::vector<std::string> keysOf(Place place) {
  std::vector<std::string> keys;
  switch (place) {
  case Place::ChipFile:
    keys = {"name", "about", "based on", "architecture"};
    break;
  case Place::ChipOfSystem:
    keys = {"based on", "architecture"};
    break;
  case Place::SystemFile:
    keys = {"name",       "about",     "based on", "chip",
            "board type", "partition", "topology", "link configuration",
            "gateway"};
    break;
  }
  for (const Figure &figure : figures()) {
    if (isFigureOf(figure, place)) {
      keys.emplace_back(figure.name);
    }
  }
  return keys;
}

const Figure *findFigure(std::string_view name) {
  const auto all = figures();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const Figure &f) { return f.name == name; });
  return found == all.end() ? nullptr : &*found;
}

Description readFile(std::string_view nameOrFile, const Path &folder,
                     unsigned depth);

// Reads one file into a description that holds what it is based on.
class FileReader {
public:
  FileReader(SystemText file, unsigned depth)
      : file_(std::move(file)), depth_(depth) {}

  Description read();

private:
  [[noreturn]] void refuse(const std::string &problem) const {
    throw invalid_machine_model(
        fmt::format("[poplar] the system file {}: {}", file_.source, problem));
  }
  [[noreturn]] void refuse(std::string_view key, const Json &given,
                           const std::string &allowed) const {
    refuse(
        fmt::format("'{}' is {}; allowed: {}", key, shortened(given), allowed));
  }
  static std::string shortened(const Json &given);

  Json parse() const;
  void requireKeys(const Json &object, Place place) const;
  std::string text(const char *key, const Json &given) const;
  std::string word(const char *key, const Json &given) const;
  template <typename Value, std::size_t size>
  void choose(const Json &object, const char *key,
              const NamedValues<Value, size> &words, Value &result) const;
  Measure measure(const Figure &figure, const Json &given) const;
  double count(const Figure &figure, const Json &given) const;
  void readFigures(const Json &object, FigureValues &values) const;
  void readArchitecture(const Json &object, Description &result) const;
  void readChip(const Json &chip, Description &result) const;
  void readSystem(const Json &root, Description &result) const;
  Description base(const char *key, const Json &given) const {
    return readFile(text(key, given), file_.folder, depth_ + 1);
  }

  SystemText file_;
  unsigned depth_; // how many files are based on this one
};

std::string FileReader::shortened(const Json &given) {
  const std::string text =
      given.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() <= longestName ? text
                                    : text.substr(0, longestName) + "...";
}

Json FileReader::parse() const {
  // Of two equal keys the parser would keep the last one without a word.
  std::vector<std::set<std::string>> keys;
  std::string twice;
  const auto watch = [&](int, Json::parse_event_t event, Json &value) {
    if (event == Json::parse_event_t::object_start) {
      keys.emplace_back();
    } else if (event == Json::parse_event_t::object_end) {
      keys.pop_back();
    } else if (event == Json::parse_event_t::key &&
               !keys.back().insert(value.get<std::string>()).second) {
      twice = value.get<std::string>();
    }
    return true;
  };
  Json root;
  try {
    root = Json::parse(file_.text, watch);
  } catch (const Json::exception &error) {
    // After a code of the parser's own: "[json.exception.parse_error.101] ".
    const std::string_view reason = error.what();
    refuse(fmt::format("not JSON: {}", reason.substr(reason.find(']') + 2)));
  }
  if (!root.is_object()) {
    refuse(fmt::format("{} given; allowed: a JSON object", shortened(root)));
  }
  if (!twice.empty()) {
    refuse(fmt::format("'{}' is there twice", twice));
  }
  return root;
}

void FileReader::requireKeys(const Json &object, Place place) const {
  const std::vector<std::string> allowed = keysOf(place);
  for (const auto &[key, value] : object.items()) {
    if (std::find(allowed.begin(), allowed.end(), key) != allowed.end()) {
      continue;
    }
    const Figure *figure = findFigure(key);
    if (figure != nullptr && place != Place::ChipFile) {
      refuse(fmt::format("'{}' belongs {} \"chip\"", key,
                         place == Place::SystemFile ? "into" : "outside"));
    }
    if (figure != nullptr || key == "chip") {
      refuse(fmt::format("'{}' is of a system, but this is a chip: it has no "
                         "\"chip\" and is based on no system",
                         key));
    }
    refuse(fmt::format("the key '{}' does not exist; allowed: {}{}", key,
                       fmt::join(allowed, ", "), suggestName(key, allowed)));
  }
}

std::string FileReader::text(const char *key, const Json &given) const {
  if (!given.is_string() || given.get_ref<const std::string &>().empty()) {
    refuse(key, given, "a string that is not empty");
  }
  return given.get<std::string>();
}

// A name that can be part of a table or of the name of a file.
std::string FileReader::word(const char *key, const Json &given) const {
  const std::string result = text(key, given);
  const bool isWord =
      std::all_of(result.begin(), result.end(), [](unsigned char c) {
        return c < 0x80 &&
               (std::isalnum(c) || c == '-' || c == '_' || c == '.');
      });
  if (!isWord || result.size() > longestName) {
    refuse(
        key, given,
        fmt::format("up to {} letters, digits, '-', '_' and '.'", longestName));
  }
  return result;
}

template <typename Value, std::size_t size>
void FileReader::choose(const Json &object, const char *key,
                        const NamedValues<Value, size> &words,
                        Value &result) const {
  if (!object.contains(key)) {
    return;
  }
  std::string allowed;
  for (const auto &[name, value] : words) {
    if (object.at(key) == name) {
      result = value;
      return;
    }
    allowed += fmt::format("{}\"{}\"", allowed.empty() ? "" : ", ", name);
  }
  refuse(key, object.at(key), allowed);
}

Measure FileReader::measure(const Figure &figure, const Json &given) const {
  if (given.is_number()) {
    return {given.get<double>(), std::string(figure.unit)};
  }
  const bool isMeasure = given.is_object() && given.contains("value") &&
                         given.at("value").is_number();
  if (!isMeasure) {
    refuse(figure.name, given,
           fmt::format("a number, or {{\"value\": number, \"unit\": \"{}\", "
                       "\"source\": \"where it is from\"}}",
                       figure.unit));
  }
  for (const auto &[key, value] : given.items()) {
    if (key != "value" && key != "unit" && key != "source") {
      refuse(fmt::format("'{}' has the key '{}'; allowed: value, unit, source",
                         figure.name, key));
    }
    if (key != "value" && !value.is_string()) {
      refuse(fmt::format("'{}' has the {} {}; allowed: a string", figure.name,
                         key, shortened(value)));
    }
  }
  return {given.at("value").get<double>(),
          given.value("unit", std::string(figure.unit))};
}

double FileReader::count(const Figure &figure, const Json &given) const {
  const Measure value = measure(figure, given);
  const std::optional<double> count = countLike(value, figure.unit);
  if (!count) {
    refuse(fmt::format("'{}' has the unit '{}'; allowed: {}", figure.name,
                       value.unit, fmt::join(unitsLike(figure.unit), ", ")));
  }
  const auto limit = [&](double number) {
    return countLike({number, std::string(figure.unit)}, figure.unit).value();
  };
  if (*count < limit(figure.least) || *count > limit(figure.most)) {
    refuse(fmt::format("'{}' is {}; allowed: {} to {}", figure.name,
                       toString(value), figure.least,
                       toString({figure.most, std::string(figure.unit)})));
  }
  if (isCounted(figure.unit) && *count != std::floor(*count)) {
    const std::string_view unit = unitsLike(figure.unit).front();
    refuse(fmt::format("'{}' is {}; allowed: whole {}", figure.name,
                       toString(value), unit == "1" ? "numbers" : unit));
  }
  return *count;
}

void FileReader::readFigures(const Json &object, FigureValues &values) const {
  for (const auto &[key, given] : object.items()) {
    if (const Figure *figure = findFigure(key)) {
      values[key] = count(*figure, given);
    }
  }
}

void FileReader::readArchitecture(const Json &object,
                                  Description &result) const {
  static const NamedValues<std::string, 3> architectures = {
      {{"ipu1", "ipu1"}, {"ipu2", "ipu2"}, {"ipu21", "ipu21"}}};
  choose(object, "architecture", architectures, result.architecture);
}

// The value of "chip" in a system: a name, or what differs from another chip.
void FileReader::readChip(const Json &chip, Description &result) const {
  const auto replaceBy = [&](const char *key, const Json &given) {
    Description other = base(key, given);
    if (other.isSystem) {
      refuse(key, given, "a chip; this is a system");
    }
    result.chip = std::move(other.chip);
    result.architecture = std::move(other.architecture);
  };
  if (chip.is_string()) {
    replaceBy("chip", chip);
    return;
  }
  if (!chip.is_object()) {
    refuse("chip", chip, "the name of a chip, or an object of figures");
  }
  requireKeys(chip, Place::ChipOfSystem);
  if (chip.contains("based on")) {
    replaceBy("based on", chip.at("based on"));
  }
  readArchitecture(chip, result);
  readFigures(chip, result.chip);
}

void FileReader::readSystem(const Json &root, Description &result) const {
  if (root.contains("chip")) {
    readChip(root.at("chip"), result);
  }
  if (root.contains("board type")) {
    result.boardType = word("board type", root.at("board type"));
  }
  // Not that of the base: it is another system.
  result.partition =
      root.contains("partition") ? word("partition", root.at("partition")) : "";
  choose(root, "topology", topologyNames, result.topology);
  choose(root, "link configuration", linkConfigurationNames,
         result.linkConfiguration);
  if (root.contains("gateway")) {
    if (!root.at("gateway").is_boolean()) {
      refuse("gateway", root.at("gateway"), "true, false");
    }
    result.hasGateway = root.at("gateway").get<bool>();
  }
  readFigures(root, result.system);
}

Description FileReader::read() {
  if (depth_ > mostBases) {
    refuse(
        fmt::format("more than {} files are based on each other", mostBases));
  }
  const Json root = parse();
  Description result;
  if (root.contains("based on")) {
    result = base("based on", root.at("based on"));
  } else {
    result.isSystem = root.contains("chip");
  }
  requireKeys(root, result.isSystem ? Place::SystemFile : Place::ChipFile);
  if (root.contains("about")) {
    text("about", root.at("about"));
  }
  if (!root.contains("name")) {
    refuse("the key 'name' is missing");
  }
  result.source = file_.source;
  result.name = word("name", root.at("name"));
  if (result.isSystem) {
    readSystem(root, result);
  } else {
    readArchitecture(root, result);
    readFigures(root, result.chip);
  }
  return result;
}

Description readFile(std::string_view nameOrFile, const Path &folder,
                     unsigned depth) {
  return FileReader(loadSystemText(nameOrFile, folder), depth).read();
}

} // namespace

Description readDescription(std::string_view nameOrFile) {
  return readFile(nameOrFile, {}, 0);
}

} // namespace poplar::internal
