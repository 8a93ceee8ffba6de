// Settings as text in ONNX's metadata.
#include <onnx/Metadata.hpp>

#include <onnx/Proto.hpp>

#include <charconv>

namespace popart {

void setMetadata(onnx::ModelProto &model, const std::string &key,
                 const std::string &value) {
  auto *entry = model.add_metadata_props();
  entry->set_key(key);
  entry->set_value(value);
}

std::map<TensorId, std::string> tensorMetadata(const onnx::ModelProto &model,
                                               const std::string &key) {
  const std::string prefix = key + "/";
  std::map<TensorId, std::string> result;
  for (const auto &entry : model.metadata_props()) {
    if (entry.key().rfind(prefix, 0) == 0) {
      result[entry.key().substr(prefix.size())] = entry.value();
    }
  }
  return result;
}

std::map<TensorId, VariableSettings>
variableSettingsOf(const onnx::ModelProto &model) {
  std::map<TensorId, VariableSettings> result;
  for (const auto &[id, text] : tensorMetadata(model, variableSettingsKey)) {
    result.emplace(id, VariableSettings::fromString(text));
  }
  return result;
}

std::optional<unsigned>
embeddedReplicationFactor(const onnx::ModelProto &model) {
  for (const auto &entry : model.metadata_props()) {
    const std::string &text = entry.value();
    unsigned value = 0;
    if (entry.key() == replicationFactorKey &&
        std::from_chars(text.data(), text.data() + text.size(), value).ec ==
            std::errc()) {
      return value;
    }
  }
  return std::nullopt;
}

} // namespace popart
