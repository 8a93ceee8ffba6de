// Where results lie is the compiler's choice: a variant that runs in place is
// its operator.
#include <ops/Variants.hpp>

#include <ops/OpRule.hpp>

namespace popart {
namespace {

struct Variant {
  const char *type; // in ai.graphcore
  const char *domain;
  const char *computes;
};

constexpr Variant variants[] = {
    {"AddLhsInplace", "ai.onnx", "Add"},
    {"AddRhsInplace", "ai.onnx", "Add"},
    {"CeilInplace", "ai.onnx", "Ceil"},
    {"ClipInplace", "ai.onnx", "Clip"},
    {"ConcatInplace", "ai.onnx", "Concat"},
    {"DetachInplace", "ai.graphcore", "Detach"},
    {"EluInplace", "ai.onnx", "Elu"},
    {"ExpInplace", "ai.onnx", "Exp"},
    {"ExpandInplace", "ai.onnx", "Expand"},
    {"Expm1Inplace", "ai.graphcore", "Expm1"},
    {"FlattenInplace", "ai.onnx", "Flatten"},
    {"FloorInplace", "ai.onnx", "Floor"},
    {"GeluInplace", "ai.graphcore", "Gelu"},
    {"GeluErfInplace", "ai.graphcore", "GeluErf"},
    {"HardSigmoidInplace", "ai.onnx", "HardSigmoid"},
    {"IdentityGrad", "ai.onnx", "Identity"},
    {"IdentityInplace", "ai.onnx", "Identity"},
    {"IncrementModInplace", "ai.graphcore", "IncrementMod"},
    {"LeakyReluInplace", "ai.onnx", "LeakyRelu"},
    {"Log1pInplace", "ai.graphcore", "Log1p"},
    {"LogSoftmaxInplace", "ai.onnx", "LogSoftmax"},
    {"MulLhsInplace", "ai.onnx", "Mul"},
    {"MulRhsInplace", "ai.onnx", "Mul"},
    {"NearbyIntInplace", "ai.graphcore", "NearbyInt"},
    {"PowLhsInplace", "ai.onnx", "Pow"},
    {"ReluInplace", "ai.onnx", "Relu"},
    {"ReshapeInplace", "ai.graphcore", "Reshape"},
    {"RoundInplace", "ai.graphcore", "Round"},
    {"ScaleInplace", "ai.graphcore", "Scale"},
    {"SeluInplace", "ai.onnx", "Selu"},
    {"ShrinkInplace", "ai.onnx", "Shrink"},
    {"SigmoidInplace", "ai.onnx", "Sigmoid"},
    {"SignInplace", "ai.onnx", "Sign"},
    {"SinhInplace", "ai.onnx", "Sinh"},
    {"SliceInplace", "ai.onnx", "Slice"},
    {"SoftmaxInplace", "ai.onnx", "Softmax"},
    {"SoftPlusInplace", "ai.onnx", "Softplus"},
    {"SoftSignInplace", "ai.onnx", "Softsign"},
    {"SwishInplace", "ai.graphcore", "Swish"},
    {"ThresholdedReluInplace", "ai.onnx", "ThresholdedRelu"},
    {"TransposeInplace", "ai.onnx", "Transpose"},
};

} // namespace

std::pair<std::string, std::string> computedByVariant(const std::string &type) {
  for (const Variant &variant : variants) {
    if (type == variant.type) {
      return {variant.domain, variant.computes};
    }
  }
  return {};
}

std::vector<std::string> operatorVariants() {
  std::vector<std::string> types;
  for (const Variant &variant : variants) {
    types.emplace_back(variant.type);
  }
  return types;
}

} // namespace popart
