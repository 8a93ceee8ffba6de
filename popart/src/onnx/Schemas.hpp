// What ONNX's own registry says of its operators.
#pragma once

#include <ops/OpSchema.hpp>

#include <climits>
#include <optional>
#include <string>
#include <vector>

namespace popart {

enum class OnnxAttributeType {
  Int,
  Float,
  String,
  Ints,
  Floats,
  Strings,
  Tensor,
  SparseTensor,
  Graph,
};

struct OnnxAttribute {
  std::string name;
  OnnxAttributeType type = OnnxAttributeType::Int;
  bool isRequired = false;
  AttributeSpec::Fallback fallback; // std::monostate: none
};

struct OnnxOperator {
  std::string type;
  int sinceVersion = 1;
  bool isDeprecated = false;
  // INT_MAX: any number.
  int minInputs = 0;
  int maxInputs = 0;
  int minOutputs = 0;
  int maxOutputs = 0;
  std::vector<OnnxAttribute> attributes; // by name
};

// The operator of ai.onnx as it is in an opset: the newest definition that is
// not newer. None when the opset does not have it.
std::optional<OnnxOperator> findOnnxOperator(const std::string &type,
                                             int opset);

// Every name that ai.onnx ever had, in order.
std::vector<std::string> onnxOperatorTypes();

} // namespace popart
