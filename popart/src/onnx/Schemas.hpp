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
  struct Operand {
    std::string name;
    std::string type; // a type's name, or a letter for one of several
  };
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
};

// The operator as it is in an opset: the newest definition that is not newer.
// None when the opset does not have it. `domain` is "ai.onnx" or "ai.onnx.ml".
std::optional<OnnxOperator>
findOnnxOperator(const std::string &type, int opset,
                 const std::string &domain = "ai.onnx");

// Every name that the domain ever had, in order.
std::vector<std::string>
onnxOperatorTypes(const std::string &domain = "ai.onnx");

} // namespace popart
