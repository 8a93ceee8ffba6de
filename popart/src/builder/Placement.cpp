// Where and how single nodes run: named attributes of the model, which sessions
// read.
#include <builder/Builder.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>
#include <support/Text.hpp>

namespace popart {
namespace {

constexpr const char *ipuNumber = "__ipu_number";
constexpr const char *stage = "__pipeline_stage";
constexpr const char *phase = "__execution_phase";
constexpr const char *recompute = "__recompute_output_in_backward_pass";

} // namespace

void ModelBuilder::virtualGraph(const std::set<TensorId> &outputs,
                                std::int64_t value) {
  addNodeAttribute(ipuNumber, value, outputs);
}

void ModelBuilder::pipelineStage(const std::set<TensorId> &outputs,
                                 std::int64_t value) {
  addNodeAttribute(stage, value, outputs);
}

void ModelBuilder::executionPhase(const std::set<TensorId> &outputs,
                                  std::int64_t value) {
  addNodeAttribute(phase, value, outputs);
}

std::int64_t
ModelBuilder::getVirtualGraph(const std::set<TensorId> &outputs) const {
  return getInt64NodeAttribute(ipuNumber, outputs);
}

std::int64_t
ModelBuilder::getPipelineStage(const std::set<TensorId> &outputs) const {
  return getInt64NodeAttribute(stage, outputs);
}

std::int64_t
ModelBuilder::getExecutionPhase(const std::set<TensorId> &outputs) const {
  return getInt64NodeAttribute(phase, outputs);
}

bool ModelBuilder::hasVirtualGraph(const std::set<TensorId> &outputs) const {
  return nodeHasAttribute(ipuNumber, outputs);
}

bool ModelBuilder::hasPipelineStage(const std::set<TensorId> &outputs) const {
  return nodeHasAttribute(stage, outputs);
}

bool ModelBuilder::hasExecutionPhase(const std::set<TensorId> &outputs) const {
  return nodeHasAttribute(phase, outputs);
}

void ModelBuilder::recomputeOutputInBackwardPass(
    const std::set<TensorId> &outputs, RecomputeType value) {
  addNodeAttribute(recompute, static_cast<std::int64_t>(value), outputs);
}

bool ModelBuilder::getRecomputeOutputInBackwardPass(
    const std::set<TensorId> &outputs) const {
  return nodeHasAttribute(recompute, outputs) &&
         getInt64NodeAttribute(recompute, outputs) ==
             static_cast<std::int64_t>(RecomputeType::Recompute);
}

void ModelBuilder::outputTensorLocation(const std::set<TensorId> &outputs,
                                        const TensorLocation &location) {
  addNodeAttribute(
      "__output_tensor_location",
      std::vector<std::int64_t>{
          static_cast<std::int64_t>(location.storage),
          static_cast<std::int64_t>(location.loadTileSet),
          static_cast<std::int64_t>(location.storageTileSet),
          static_cast<std::int64_t>(location.replicatedTensorSharding)},
      outputs);
}

void ModelBuilder::setEnableConvDithering(const TensorId &output,
                                          std::int64_t value) {
  setNodeAttribute("__enable_conv_dithering", value, {output});
}

void ModelBuilder::setAvailableMemoryProportion(
    const std::set<TensorId> &outputs, float proportion) {
  support::requireUser<error>(
      0.0f < proportion && proportion <= 1.0f,
      "availableMemoryProportion must be in (0,1], but it is {}", proportion);
  setNodeAttribute("__available_memory", proportion, outputs);
}

void ModelBuilder::setPartialsType(const TensorId &output,
                                   const std::string &type) {
  std::string lower = support::lowerCase(type);
  support::requireUser<error>(
      lower == "float" || lower == "half",
      "[Builder] the type of partials is '{}'. Possible values are 'float' and "
      "'half' in any letter case",
      type);
  setNodeAttribute("__partials_type", type, {output});
}

std::string ModelBuilder::getPartialsType(const TensorId &output) const {
  return nodeHasAttribute("__partials_type", {output})
             ? getStringNodeAttribute("__partials_type", {output})
             : "float";
}

void ModelBuilder::setSerializeMatMul(const std::set<TensorId> &outputs,
                                      const std::string &mode,
                                      std::int64_t factor, bool keepPrecision) {
  bool isNone = mode == "none";
  support::requireUser<error>(isNone || mode == "input_channels" ||
                                  mode == "reducing_dim" ||
                                  mode == "output_channels",
                              "Unsupported mat mul serialization mode '{}'. "
                              "Supported modes are 'input_channels', "
                              "'reducing_dim', 'output_channels' and 'none'",
                              mode);
  setNodeAttribute("__serialize_matmul_mode", mode, outputs);
  if (!isNone) {
    setNodeAttribute("__serialize_matmul_factor", factor, outputs);
    setNodeAttribute("__serialize_matmul_precision",
                     std::int64_t{keepPrecision}, outputs);
  }
}

void ModelBuilder::setInplacePreferences(
    const TensorId &output, const std::map<std::string, float> &priorities) {
  std::vector<std::string> names;
  std::vector<float> values;
  for (const auto &[name, priority] : priorities) {
    names.push_back(name);
    values.push_back(priority);
  }
  setNodeAttribute("__inplace_op_names", names, {output});
  setNodeAttribute("__inplace_op_priorities", values, {output});
}

void ModelBuilder::excludePatterns(const TensorId &output,
                                   const std::vector<std::string> &patterns) {
  setNodeAttribute("__exclude_patterns", patterns, {output});
}

} // namespace popart
