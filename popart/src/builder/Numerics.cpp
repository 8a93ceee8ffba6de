// Differences between the weights of four models.
#include <popart/numerics.hpp>

#include <onnx/Model.hpp>
#include <onnx/Proto.hpp>
#include <onnx/TensorData.hpp>
#include <popart/error.hpp>
#include <support/Error.hpp>
#include <support/Half.hpp>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

namespace popart::numerics {
namespace {

std::vector<double> valuesOf(const onnx::TensorProto &tensor) {
  std::vector<char> bytes = bytesOf(tensor);
  bool isHalf = infoOf(tensor).dataType() == DataType::FLOAT16;
  std::size_t width = isHalf ? sizeof(std::uint16_t) : sizeof(float);
  std::vector<double> values;
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    float value = 0;
    if (isHalf) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, bytes.data() + at, width);
      value = support::halfBitsToFloat(bits);
    } else {
      std::memcpy(&value, bytes.data() + at, width);
    }
    values.push_back(static_cast<double>(value));
  }
  return values;
}

bool isWeight(const onnx::TensorProto &tensor) {
  DataType type = infoOf(tensor).dataType();
  return type == DataType::FLOAT || type == DataType::FLOAT16;
}

Differences compare(const std::array<std::vector<double>, 4> &v) {
  auto squared = [](double x) { return x * x; };
  Differences result;
  result.elements = static_cast<std::int64_t>(v[0].size());
  for (std::size_t i = 0; i < v[0].size(); ++i) {
    result.squaredStepA += squared(v[1][i] - v[0][i]);
    result.squaredStepB += squared(v[3][i] - v[2][i]);
    result.squaredGap += squared(v[1][i] - v[3][i]);
  }
  return result;
}

} // namespace

float Differences::relativeError() const {
  if (squaredGap == 0) {
    return 0;
  }
  return static_cast<float>(squaredGap /
                            std::sqrt(squaredStepA * squaredStepB));
}

NumericsReport::NumericsReport(const std::string &A0, const std::string &A1,
                               const std::string &B0, const std::string &B1) {
  std::array<OnnxModel, 4> models = {loadModel(A0), loadModel(A1),
                                     loadModel(B0), loadModel(B1)};
  for (const auto &tensor : models[0].proto->graph().initializer()) {
    if (!isWeight(tensor)) {
      continue;
    }
    std::array<std::vector<double>, 4> values;
    for (std::size_t i = 0; i < models.size(); ++i) {
      const onnx::TensorProto *other =
          findInitializer(*models[i].proto->mutable_graph(), tensor.name());
      support::requireUser<error>(
          other != nullptr && infoOf(*other) == infoOf(tensor),
          "[NumericsReport] model {} has no weight '{}' of the same type and "
          "shape",
          i, tensor.name());
      values[i] = valuesOf(*other);
    }
    weights_[tensor.name()] = compare(values);
  }
}

std::string NumericsReport::report(const TensorId &id) const {
  auto found = weights_.find(id);
  support::requireUser<error>(found != weights_.end(),
                              "[NumericsReport] there is no weight '{}'", id);
  const Differences &d = found->second;
  return fmt::format("{}: {} elements, |A1-A0|^2 {:.6g}, |B1-B0|^2 {:.6g}, "
                     "|A1-B1|^2 {:.6g}, relative error {:.6g}",
                     id, d.elements, d.squaredStepA, d.squaredStepB,
                     d.squaredGap, d.relativeError());
}

std::string NumericsReport::fullReport() const {
  std::string text;
  for (const auto &[id, differences] : weights_) {
    text += report(id) + "\n";
  }
  return text;
}

std::map<TensorId, float> NumericsReport::getRelativeErrors() const {
  std::map<TensorId, float> errors;
  for (const auto &[id, differences] : weights_) {
    errors[id] = differences.relativeError();
  }
  return errors;
}

} // namespace popart::numerics
