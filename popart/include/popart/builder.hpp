// Builds ONNX models: inputs, weights and a method for each operator.
#pragma once

#include <popart/modelbuilder.hpp>
#include <popart/opsets.hpp>

#include <memory>
#include <string>

namespace popart {

class Builder : public ModelBuilder {
public:
  static std::unique_ptr<Builder> create() {
    return std::unique_ptr<Builder>(new Builder());
  }
  static std::unique_ptr<Builder>
  createFromOnnxModel(const std::string &modelProtoOrFilename) {
    auto builder = create();
    builder->loadModelProto(modelProtoOrFilename);
    return builder;
  }

  // For a body of If, Loop, Scan or Call; owned by this builder.
  Builder &createSubgraphBuilder() {
    return static_cast<Builder &>(createSubgraph(create()));
  }

  // The first opset of ai.onnx that adds a node is the model's.
  AiOnnxOpset6 aiOnnxOpset6() { return AiOnnxOpset6(*this); }
  AiOnnxOpset7 aiOnnxOpset7() { return AiOnnxOpset7(*this); }
  AiOnnxOpset8 aiOnnxOpset8() { return AiOnnxOpset8(*this); }
  AiOnnxOpset9 aiOnnxOpset9() { return AiOnnxOpset9(*this); }
  AiOnnxOpset10 aiOnnxOpset10() { return AiOnnxOpset10(*this); }
  AiOnnxOpset11 aiOnnxOpset11() { return AiOnnxOpset11(*this); }
  AiOnnxMlOpset1 aiOnnxMlOpset1() { return AiOnnxMlOpset1(*this); }
  AiGraphcoreOpset1 aiGraphcoreOpset1() { return AiGraphcoreOpset1(*this); }

private:
  Builder() = default;
};

} // namespace popart
