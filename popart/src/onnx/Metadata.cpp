// Settings as text in ONNX's metadata.
#include <onnx/Metadata.hpp>

#include <onnx/Proto.hpp>
#include <popart/error.hpp>
#include <support/Error.hpp>

#include <charconv>

namespace popart {
namespace {

constexpr const char *tileSetKey = "__tile_set";
constexpr const char *exchangeStrategyKey = "__exchange_strategy";
constexpr const char *streamModeKey = "__replicated_stream_mode";

// Numbers of an enumeration, by tensor.
template <typename T>
std::map<TensorId, T> settingOf(const onnx::ModelProto &model, const char *key,
                                T last) {
  std::map<TensorId, T> result;
  for (const auto &[id, text] : tensorMetadata(model, key)) {
    int number = -1;
    std::from_chars(text.data(), text.data() + text.size(), number);
    support::requireUser<error>(0 <= number && number <= static_cast<int>(last),
                                "[ONNX] the model's metadata has {}/{} = '{}'; "
                                "0 to {} are allowed",
                                key, id, text, static_cast<int>(last));
    result[id] = static_cast<T>(number);
  }
  return result;
}

} // namespace

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

std::map<TensorId, InputSettings>
inputSettingsOf(const onnx::ModelProto &model) {
  std::map<TensorId, InputSettings> result;
  for (auto [id, tiles] : settingOf(model, tileSetKey, TileSet::IO)) {
    result[id].setTileSet(tiles);
  }
  for (auto [id, strategy] :
       settingOf(model, exchangeStrategyKey, ExchangeStrategy::OverlapLoops)) {
    result[id].setExchangeStrategy(strategy);
  }
  for (auto [id, mode] :
       settingOf(model, streamModeKey, ReplicatedStreamMode::Broadcast)) {
    result[id].setReplicatedStreamMode(mode);
  }
  return result;
}

void setInputSettings(onnx::ModelProto &model, const TensorId &id,
                      const InputSettings &settings) {
  auto set = [&](const char *key, auto value) {
    setMetadata(model, std::string(key) + "/" + id,
                std::to_string(static_cast<int>(value)));
  };
  set(tileSetKey, settings.tileSet());
  set(exchangeStrategyKey, settings.exchangeStrategy());
  set(streamModeKey, settings.replicatedStreamMode());
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
