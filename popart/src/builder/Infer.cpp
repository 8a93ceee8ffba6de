// Types and shapes of a model that is being built, and questions about them.
#include <builder/Builder.hpp>

#include <onnx/Import.hpp>
#include <onnx/TensorData.hpp>
#include <ops/Composer.hpp>
#include <ops/OpRule.hpp>
#include <popart/error.hpp>
#include <popart/opmanager.hpp>
#include <popart/shapeinference.hpp>
#include <support/Error.hpp>
#include <support/Shape.hpp>

#include <algorithm>

namespace popart {
namespace {

// The operator's version if a rule has it; 0 otherwise.
int ruleVersion(const std::string &domain, const std::string &type, int opset) {
  try {
    return resolveOperator(domain, type, opset, true, type).version;
  } catch (const error &) {
    return 0; // a session will refuse it
  }
}

const std::string &spelled(const std::string &domain) {
  static const std::string onnx = "ai.onnx";
  return domain.empty() ? onnx : domain;
}

} // namespace

void ModelBuilder::Implementation::setOutputInfo(const TensorId &id,
                                                 const TensorInfo &info,
                                                 const onnx::NodeProto &node) {
  bool isGood = std::all_of(info.shape().begin(), info.shape().end(),
                            [](std::int64_t dim) { return dim >= 0; });
  support::requireUser<error>(
      isGood,
      "Output '{}' of node '{}' has invalid shape, {}. Values must be "
      "non-negative in each shape dimension.",
      id, node.name().empty() ? node.op_type() : node.name(),
      support::toString(info.shape()));
  setInfo(*graph().add_value_info(), id, info);
}

bool ModelBuilder::Implementation::inferCustom(const onnx::NodeProto &node) {
  const std::string &domain = spelled(node.domain());
  const OperatorIdentifier *opid =
      OpManager::find(domain, node.op_type(), opset(domain));
  if (!opid || findOpRule(*opid)) {
    return false;
  }
  const ShapeInferenceFunction *function = findShapeInferenceFunction(*opid);
  if (!function) {
    return true; // nothing is known of the outputs
  }
  std::map<int, TensorInfo> inputs;
  for (int i = 0; i < node.input_size(); ++i) {
    if (shapes.hasTensor(node.input(i))) {
      inputs[i] = shapes.getTensor(node.input(i)).info;
    }
  }
  Attributes attributesOfNode;
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    addAttribute(attributesOfNode, attribute);
  }
  ShapeInferenceContext context(inputs, attributesOfNode, node.input_size(),
                                node.output_size());
  try {
    (*function)(context);
  } catch (const unknown_shape &) {
    return true;
  }
  for (const auto &[index, info] : context.getOutputInfos()) {
    const TensorId &id = node.output(index);
    if (info.dataType() != DataType::UNDEFINED && !id.empty()) {
      shapes.addStream(id, info);
      setOutputInfo(id, info, node);
    }
  }
  return true;
}

void ModelBuilder::Implementation::infer(onnx::NodeProto &node) {
  const std::string &domain = spelled(node.domain());
  if (domain == "ai.onnx" && node.op_type() == "Constant") {
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.name() == "value" && attribute.has_t()) {
        TensorInfo info = infoOf(attribute.t());
        shapes.addConstant(node.output(0), info, bytesOf(attribute.t()).data());
        setOutputInfo(node.output(0), info, node);
      }
    }
    return;
  }
  if (inferBodies(node) || inferCustom(node)) {
    return;
  }
  OperatorIdentifier opid{domain, node.op_type(),
                          ruleVersion(domain, node.op_type(), opset(domain))};
  bool isKnown =
      opid.version > 0 &&
      std::all_of(node.input().begin(), node.input().end(),
                  [&](auto &id) { return id.empty() || shapes.hasTensor(id); });
  if (!isKnown) {
    return;
  }
  Attributes known;
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    addAttribute(known, attribute);
  }
  Op::Settings settings;
  settings.name = node.name();
  std::vector<TensorId> outputs(node.output().begin(), node.output().end());
  try {
    addOrCompose(shapes, opid, {node.input().begin(), node.input().end()},
                 outputs, known, settings);
  } catch (const error &) {
    if (!parent) {
      throw;
    }
    return; // what a subgraph is given may be known only when it is run
  }
  for (const TensorId &id : outputs) {
    if (!id.empty()) {
      setOutputInfo(id, shapes.getTensor(id).info, node);
    }
  }
}

std::vector<TensorId> ModelBuilder::getInputTensorIds() const {
  std::vector<TensorId> ids;
  for (const auto &input : implementation_->model.graph().input()) {
    ids.push_back(input.name());
  }
  return ids;
}

std::vector<TensorId> ModelBuilder::getOutputTensorIds() const {
  std::vector<TensorId> ids;
  for (const auto &output : implementation_->model.graph().output()) {
    ids.push_back(output.name());
  }
  return ids;
}

std::vector<TensorId> ModelBuilder::getValueTensorIds() const {
  std::vector<TensorId> ids;
  for (const auto &value : implementation_->model.graph().value_info()) {
    ids.push_back(value.name());
  }
  return ids;
}

std::vector<TensorId> ModelBuilder::getTrainableTensorIds() const {
  std::vector<TensorId> ids;
  for (const auto &tensor : implementation_->model.graph().initializer()) {
    ids.push_back(tensor.name());
  }
  return ids;
}

bool ModelBuilder::hasTensorShape(const TensorId &id) const {
  return implementation_->shapes.hasTensor(id);
}

Shape ModelBuilder::getTensorShape(const TensorId &id) const {
  implementation_->requireTensor(id);
  support::requireUser<error>(hasTensorShape(id),
                              "[Builder] the shape of '{}' is not known", id);
  return implementation_->shapes.getTensor(id).info.shape();
}

DataType ModelBuilder::getTensorDataType(const TensorId &id) const {
  implementation_->requireTensor(id);
  support::requireUser<error>(hasTensorShape(id),
                              "[Builder] the type of '{}' is not known", id);
  return implementation_->shapes.getTensor(id).info.dataType();
}

std::string ModelBuilder::getTensorDtypeString(const TensorId &id) const {
  return TensorInfo(getTensorDataType(id), {}).data_type_lcase();
}

bool ModelBuilder::isInitializer(const TensorId &id) const {
  return findInitializer(implementation_->graph(), id) != nullptr;
}

} // namespace popart
