// What the Builder writes beside a model's graph.
#pragma once

#include <popart/inputsettings.hpp>
#include <popart/names.hpp>
#include <popart/variablesettings.hpp>

#include <map>
#include <optional>
#include <string>

namespace onnx {
class ModelProto;
} // namespace onnx

namespace popart {

// Keys of the metadata. Settings of a tensor are "<key>/<tensor>".
constexpr const char *replicationFactorKey = "__replicationFactor";
constexpr const char *variableSettingsKey = "__variable_settings";

void setMetadata(onnx::ModelProto &model, const std::string &key,
                 const std::string &value);

// By tensor; empty when no tensor has the setting.
std::map<TensorId, std::string> tensorMetadata(const onnx::ModelProto &model,
                                               const std::string &key);

// Throws popart::error for settings that are not understood.
std::map<TensorId, VariableSettings>
variableSettingsOf(const onnx::ModelProto &model);
std::map<TensorId, InputSettings>
inputSettingsOf(const onnx::ModelProto &model);
void setInputSettings(onnx::ModelProto &model, const TensorId &id,
                      const InputSettings &settings);

// None when the model does not say it.
std::optional<unsigned>
embeddedReplicationFactor(const onnx::ModelProto &model);

} // namespace popart
