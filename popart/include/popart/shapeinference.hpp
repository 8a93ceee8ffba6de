// How the Builder learns the shapes of a custom operator's outputs.
#pragma once

#include <popart/attributes.hpp>
#include <popart/error.hpp>
#include <popart/operatoridentifier.hpp>
#include <popart/tensorinfo.hpp>

#include <functional>
#include <map>
#include <string>
#include <utility>

namespace popart {

// An input's shape follows from an operator that says nothing of its outputs:
// nothing is known of this one's, either.
class unknown_shape : public error {
public:
  using error::error;
};

// A node that is being added to a model.
class ShapeInferenceContext {
public:
  ShapeInferenceContext(std::map<int, TensorInfo> inputs, Attributes attributes,
                        int numInputs, int numOutputs)
      : inputs_(std::move(inputs)), attributes_(std::move(attributes)),
        numInputs_(numInputs), numOutputs_(numOutputs) {}

  // Throw unknown_shape for inputs whose shape is not known.
  const TensorInfo &inInfo(int index) const;
  const Shape &inShape(int index) const { return inInfo(index).shape(); }
  DataType inType(int index) const { return inInfo(index).dataType(); }
  bool hasInputShape(int index) const { return inputs_.count(index) > 0; }
  TensorInfo &outInfo(int index) { return outputs_[index]; }
  const Shape &outShape(int index) { return outInfo(index).shape(); }

  int getNumInputs() const { return numInputs_; }
  int getNumOutputs() const { return numOutputs_; }
  const Attributes &getAttributes() const { return attributes_; }
  bool hasAttribute(const std::string &name) const {
    return attributes_.hasAttribute(name);
  }
  template <typename T> T getAttribute(const std::string &name) const {
    return attributes_.getAttribute<T>(name);
  }
  template <typename T>
  T getAttribute(const std::string &name, const T &fallback) const {
    return attributes_.getAttribute<T>(name, fallback);
  }
  // What has been said of the outputs.
  const std::map<int, TensorInfo> &getOutputInfos() const { return outputs_; }

private:
  std::map<int, TensorInfo> inputs_;
  Attributes attributes_;
  std::map<int, TensorInfo> outputs_;
  int numInputs_;
  int numOutputs_;
};

using ShapeInferenceFunction = std::function<void(ShapeInferenceContext &)>;

// Registers the function when it is made; a later one replaces it.
class RegisterShapeInferenceFunction {
public:
  RegisterShapeInferenceFunction(const OperatorIdentifier &opid,
                                 ShapeInferenceFunction function);
};

// Null when there is none.
const ShapeInferenceFunction *
findShapeInferenceFunction(const OperatorIdentifier &opid);

void propagateElemTypeFromInputToOutput(ShapeInferenceContext &context,
                                        int input, int output);
void propagateShapeFromInputToOutput(ShapeInferenceContext &context, int input,
                                     int output);

} // namespace popart
