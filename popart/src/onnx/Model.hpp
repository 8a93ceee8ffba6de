// A model file or its bytes, read with ONNX's own schema and checked with
// ONNX's own checker.
#pragma once

#include <popart/names.hpp>

#include <filesystem>
#include <map>
#include <memory>
#include <string>

namespace onnx {
class ModelProto;
} // namespace onnx

namespace popart {

// Which of a tensor's data is in which file, as the model says it.
struct ExternalData {
  std::string location;
  std::int64_t offset = 0;
  std::int64_t length = 0;
};

struct OnnxModel {
  // All data is inside: nothing in it refers to other files.
  std::shared_ptr<onnx::ModelProto> proto;
  // Where relative locations of external data start.
  std::filesystem::path folder;
  // Of the tensors that were in other files.
  std::map<TensorId, ExternalData> external;

  // The version of a domain's operators; 0 when the model does not use it.
  int opset(const std::string &domain) const;
};

// `modelProtoOrFilename` is the name of a file, or a serialised ModelProto.
// Throws popart::error for what is neither, for a model that the checker
// refuses and for opsets that are not supported.
OnnxModel loadModel(const std::string &modelProtoOrFilename);

// What loadModel does before the checker.
std::shared_ptr<onnx::ModelProto>
parseModel(const std::string &modelProtoOrFilename);

// Throws popart::error with the checker's words. The model is as it was
// afterwards.
void checkModel(onnx::ModelProto &model);

// Opsets of ai.onnx that are read. PopART's own end at 11; of newer ones those
// operators are taken whose rule lists them (ops/OpSchema.hpp).
constexpr int minAiOnnxOpset = 6;
constexpr int maxAiOnnxOpset = 17;
constexpr int defaultAiOnnxOpset = 10;

} // namespace popart
