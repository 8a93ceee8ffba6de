// Locations, offsets and lengths come from the model and are checked against
// the file system before anything is read.
#include <onnx/ExternalData.hpp>

#include <onnx/Proto.hpp>
#include <onnx/TensorData.hpp>
#include <popart/error.hpp>
#include <support/Error.hpp>

#include <charconv>
#include <fstream>

namespace popart {
namespace {

namespace fs = std::filesystem;

bool isExternal(const onnx::TensorProto &tensor) {
  return tensor.data_location() == onnx::TensorProto::EXTERNAL;
}

std::int64_t toNumber(const onnx::TensorProto &tensor, const char *key,
                      const std::string &text) {
  std::int64_t number = 0;
  auto [end, problem] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  support::requireUser<error>(
      problem == std::errc() && end == text.data() + text.size() && number >= 0,
      "[ONNX] external data of tensor '{}': {} '{}' is not a number of bytes",
      tensor.name(), key, text);
  return number;
}

ExternalData readReference(const onnx::TensorProto &tensor) {
  ExternalData where;
  where.length = infoOf(tensor).nbytes();
  for (const auto &entry : tensor.external_data()) {
    if (entry.key() == "location") {
      where.location = entry.value();
    } else if (entry.key() == "offset") {
      where.offset = toNumber(tensor, "offset", entry.value());
    } else if (entry.key() == "length") {
      where.length = toNumber(tensor, "length", entry.value());
    }
  }
  support::requireUser<error>(!where.location.empty(),
                              "[ONNX] external data of tensor '{}' has no "
                              "location",
                              tensor.name());
  return where;
}

// Whether `path`, links followed, is inside `folder`.
bool isInside(const fs::path &path, const fs::path &folder) {
  std::error_code problem;
  fs::path real = fs::weakly_canonical(path, problem);
  fs::path base = fs::weakly_canonical(folder, problem);
  fs::path relative = real.lexically_relative(base);
  return !problem && !relative.empty() && *relative.begin() != "..";
}

fs::path locate(const onnx::TensorProto &tensor, const ExternalData &where,
                const fs::path &folder, bool allowAbsolute) {
  fs::path path = folder / where.location; // an absolute location replaces it
  bool isTrusted = fs::path(where.location).is_absolute() && allowAbsolute;
  support::requireUser<error>(
      where.location.find('\0') == std::string::npos &&
          (isTrusted || isInside(path, folder)),
      "[ONNX] external data of tensor '{}': '{}' is outside the model's folder "
      "'{}'",
      tensor.name(), where.location, folder.string());
  std::error_code problem;
  support::requireUser<error>(
      fs::is_regular_file(path, problem),
      "[ONNX] external data of tensor '{}': there is no file '{}'",
      tensor.name(), path.string());
  return path;
}

void load(onnx::TensorProto &tensor, const ExternalData &where,
          const fs::path &path) {
  auto size = static_cast<std::int64_t>(fs::file_size(path));
  support::requireUser<error>(
      where.offset <= size && where.length <= size - where.offset,
      "[ONNX] external data of tensor '{}': {} bytes from {} are not in '{}', "
      "which has {}",
      tensor.name(), where.length, where.offset, path.string(), size);
  support::requireUser<error>(where.length == infoOf(tensor).nbytes(),
                              "[ONNX] external data of tensor '{}' has {} "
                              "bytes; its type and shape need {}",
                              tensor.name(), where.length,
                              infoOf(tensor).nbytes());
  std::string bytes(static_cast<std::size_t>(where.length), '\0');
  std::ifstream file(path, std::ios::binary);
  file.seekg(where.offset);
  file.read(bytes.data(), where.length);
  support::requireUser<error>(
      file.gcount() == where.length,
      "[ONNX] external data of tensor '{}': cannot read '{}'", tensor.name(),
      path.string());
  tensor.clear_external_data();
  tensor.clear_data_location();
  *tensor.mutable_raw_data() = std::move(bytes);
}

} // namespace

std::map<TensorId, ExternalData> loadExternalData(onnx::ModelProto &model,
                                                  const fs::path &folder,
                                                  bool allowAbsolute) {
  std::map<TensorId, ExternalData> found;
  forEachTensor(*model.mutable_graph(), [&](onnx::TensorProto &tensor) {
    if (isExternal(tensor)) {
      ExternalData where = readReference(tensor);
      load(tensor, where, locate(tensor, where, folder, allowAbsolute));
      found[tensor.name()] = where;
    }
  });
  return found;
}

std::map<TensorId, ExternalData>
saveExternalData(onnx::ModelProto &model, const std::vector<TensorId> &ids,
                 const std::string &fileName) {
  std::ofstream file(fileName, std::ios::binary);
  std::map<TensorId, ExternalData> saved;
  for (const TensorId &id : ids) {
    onnx::TensorProto *tensor = findInitializer(*model.mutable_graph(), id);
    support::requireUser<error>(tensor != nullptr,
                                "[saveInitializersExternally] tensor '{}' is "
                                "not an initialiser",
                                id);
    support::requireUser<error>(!isExternal(*tensor),
                                "[saveInitializersExternally] tensor '{}' is "
                                "saved externally already",
                                id);
    std::vector<char> bytes = bytesOf(*tensor);
    ExternalData where{fileName, static_cast<std::int64_t>(file.tellp()),
                       static_cast<std::int64_t>(bytes.size())};
    file.write(bytes.data(), where.length);
    support::requireUser<error>(
        bool(file), "[saveInitializersExternally] cannot write '{}'", fileName);
    setExternal(*tensor, where);
    saved[id] = where;
  }
  return saved;
}

void setExternal(onnx::TensorProto &tensor, const ExternalData &where) {
  clearData(tensor);
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  auto add = [&](const char *key, std::string value) {
    auto *entry = tensor.add_external_data();
    entry->set_key(key);
    entry->set_value(std::move(value));
  };
  add("location", where.location);
  add("offset", std::to_string(where.offset));
  add("length", std::to_string(where.length));
}

void writeExternal(const fs::path &folder, const ExternalData &where,
                   const std::vector<char> &bytes) {
  fs::path path = folder / where.location;
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(where.offset);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  support::requireUser<error>(bool(file), "[ONNX] cannot write '{}'",
                              path.string());
}

} // namespace popart
