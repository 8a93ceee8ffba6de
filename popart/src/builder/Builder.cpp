// Inputs, nodes and names of a model that is being built.
#include <builder/Builder.hpp>

#include <onnx/Metadata.hpp>
#include <onnx/Model.hpp>
#include <onnx/Schemas.hpp>
#include <onnx/Subgraphs.hpp>
#include <onnx/TensorData.hpp>
#include <popart/error.hpp>
#include <support/Error.hpp>

#include <fmt/ranges.h>

#include <climits>

namespace popart {
namespace {

// Initialisers may leave the graph's inputs out from here on.
constexpr int irVersion = 4;

// Beside PopART's own versions for a domain there is only one.
std::string onnxDomain(const std::string &domain) {
  return domain == "ai.onnx" ? "" : domain;
}

void requireArity(const std::string &domain, const std::string &type, int opset,
                  std::size_t inputs) {
  if (domain != "ai.onnx" && domain != "ai.onnx.ml") {
    return;
  }
  auto schema = findOnnxOperator(type, opset, domain);
  support::requireUser<error>(schema.has_value(),
                              "There is no operator {} in opset {} of {}", type,
                              opset, domain);
  auto count = static_cast<int>(inputs);
  support::requireUser<error>(
      schema->minInputs <= count && count <= schema->maxInputs,
      "{} has invalid number of inputs {}. Must be between {}..{}", type, count,
      schema->minInputs,
      schema->maxInputs == INT_MAX ? "inf" : std::to_string(schema->maxInputs));
}

} // namespace

TensorId ModelBuilder::Implementation::uniqueId(const std::string &stem) {
  requireUnreserved(stem);
  std::string id;
  for (const std::string &scope : scopes) {
    id += scope + "/";
  }
  id += stem;
  TensorId unique = id;
  for (int i = 1; names->count(unique) > 0; ++i) {
    unique = id + "/" + std::to_string(i);
  }
  names->insert(unique);
  tensors.insert(unique);
  return unique;
}

bool ModelBuilder::Implementation::knows(const TensorId &id) const {
  return tensors.count(id) > 0 || (parent && parent->knows(id));
}

void ModelBuilder::Implementation::requireTensor(const TensorId &id) const {
  if (knows(id)) {
    return;
  }
  throw error(tensors.empty()
                  ? fmt::format("Unknown tensor '{}' (there are no valid "
                                "tensors yet).",
                                id)
                  : fmt::format("Unknown tensor '{}' (valid tensors are {}).",
                                id, fmt::join(tensors, ", ")));
}

int ModelBuilder::Implementation::opset(const std::string &domain) const {
  for (const auto &opset : model.opset_import()) {
    if (opset.domain() == onnxDomain(domain)) {
      return static_cast<int>(opset.version());
    }
  }
  return 0;
}

void ModelBuilder::Implementation::requireOpset(const std::string &domain,
                                                int version) {
  int known = opset(domain);
  if (parent) { // a model has one version for all its graphs
    parent->requireOpset(domain, version);
  }
  if (known == 0) {
    auto *opset = model.add_opset_import();
    opset->set_domain(onnxDomain(domain));
    opset->set_version(version);
    return;
  }
  support::requireUser<error>(
      known == version,
      "Invalid opset {} used to add an operation. Opset for domain {} already "
      "defined as {}",
      version, domain, known);
}

void ModelBuilder::Implementation::addInput(const TensorId &id,
                                            const TensorInfo &info) {
  setInfo(*graph().add_input(), id, info);
  shapes.addStream(id, info);
}

ModelBuilder::ModelBuilder()
    : implementation_(std::make_unique<Implementation>()) {
  Implementation &self = *implementation_;
  self.model.set_ir_version(irVersion);
  self.model.set_producer_name("Aspen");
  self.graph().set_name("BuilderGraph");
}

ModelBuilder::~ModelBuilder() = default;

ModelBuilder &
ModelBuilder::createSubgraph(std::unique_ptr<ModelBuilder> child) {
  Implementation &self = *implementation_;
  Implementation &inner = *child->implementation_;
  inner.names = self.names;
  inner.scopes = self.scopes;
  inner.parent = &self;
  *inner.model.mutable_opset_import() = self.model.opset_import();
  self.children.push_back(std::move(child));
  return *self.children.back();
}

TensorId ModelBuilder::addInputTensor(const TensorInfo &info,
                                      const DebugContext &debugContext) {
  const std::string &name = debugContext.getPathName();
  TensorId id = implementation_->uniqueId(name.empty() ? "input" : name);
  implementation_->addInput(id, info);
  return id;
}

TensorId ModelBuilder::addInputTensor(const TensorInfo &info,
                                      const InputSettings &settings,
                                      const DebugContext &debugContext) {
  support::requireUser<error>(
      settings.exchangeStrategy() != ExchangeStrategy::OverlapStep,
      "ExchangeStrategy::OverlapStep is not yet supported");
  TensorId id = addInputTensor(info, debugContext);
  setInputSettings(implementation_->model, id, settings);
  return id;
}

TensorId ModelBuilder::addInputTensor(const std::string &dataType,
                                      const Shape &shape,
                                      const DebugContext &debugContext) {
  return addInputTensor(TensorInfo(dataType, shape), debugContext);
}

TensorId ModelBuilder::addUntypedInputTensor(const DebugContext &debugContext) {
  Implementation &self = *implementation_;
  support::requireUser<error>(self.parent != nullptr,
                              "[Builder] addUntypedInputTensor is for "
                              "subgraphs; use addInputTensor");
  const std::string &name = debugContext.getPathName();
  TensorId id = self.uniqueId(name.empty() ? "input" : name);
  self.graph().add_input()->set_name(id);
  return id;
}

void ModelBuilder::addInputTensorFromParentGraph(const TensorId &id) {
  Implementation &self = *implementation_;
  support::requireUser<error>(self.parent != nullptr,
                              "[Builder] addInputTensorFromParentGraph is for "
                              "subgraphs");
  support::requireUser<error>(
      self.parent->knows(id),
      "Failed to add unrecognised Tensor '{}' from higher scope", id);
  markAsOfParent(*self.graph().add_input(), id);
  if (self.parent->shapes.hasTensor(id) && !self.shapes.hasTensor(id)) {
    self.shapes.addStream(id, self.parent->shapes.getTensor(id).info);
  }
  self.tensors.insert(id);
}

void ModelBuilder::addOutputTensor(const TensorId &id) {
  Implementation &self = *implementation_;
  self.requireTensor(id);
  auto *output = self.graph().add_output();
  output->set_name(id);
  if (self.shapes.hasTensor(id)) {
    setInfo(*output, id, self.shapes.getTensor(id).info);
  }
}

std::vector<TensorId>
ModelBuilder::customOp(const OperatorIdentifier &opid, int opsetVersion,
                       const std::vector<TensorId> &inputs, unsigned numOutputs,
                       const AttributeMap &attributes,
                       const DebugContext &debugContext) {
  Implementation &self = *implementation_;
  self.requireOpset(opid.domain, opsetVersion);
  requireArity(opid.domain, opid.type, opsetVersion, inputs.size());
  for (const TensorId &id : inputs) {
    if (!id.empty()) {
      self.requireTensor(id);
    }
  }
  onnx::NodeProto node;
  node.set_op_type(opid.type);
  node.set_domain(onnxDomain(opid.domain));
  const std::string &name = debugContext.getPathName();
  if (!name.empty() || !self.scopes.empty()) {
    node.set_name(getNameScope(name.empty() ? opid.type : name));
  }
  for (const TensorId &id : inputs) {
    node.add_input(id);
  }
  for (const auto &[key, value] : attributes) {
    setValue(*node.add_attribute(), key, value);
  }
  for (const auto &[key, value] : self.attributes) {
    setValue(*node.add_attribute(), key, value);
  }
  std::vector<TensorId> outputs;
  for (unsigned i = 0; i < numOutputs; ++i) {
    outputs.push_back(self.uniqueId(opid.type + ":" + std::to_string(i)));
    node.add_output(outputs.back());
  }
  self.infer(node); // throws before the model has changed
  auto *added = self.graph().add_node();
  added->Swap(&node);
  for (const TensorId &id : outputs) {
    self.producers[id] = added;
  }
  return outputs;
}

TensorId ModelBuilder::reshape_const(int opsetVersion, const TensorId &input,
                                     const Shape &shape,
                                     const DebugContext &debugContext) {
  TensorInfo info(DataType::INT64, {static_cast<std::int64_t>(shape.size())});
  TensorId constant =
      customOp({"ai.onnx", "Constant"}, opsetVersion, {}, 1,
               {{"value", ConstVoidData{shape.data(), info}}}, debugContext)[0];
  return customOp({"ai.onnx", "Reshape"}, opsetVersion, {input, constant}, 1,
                  {}, debugContext)[0];
}

std::vector<TensorId>
ModelBuilder::checkpointOutput(const std::vector<TensorId> &ids) {
  constexpr std::int64_t checkpoint = 1; // RecomputeType::Checkpoint
  int opset = implementation_->opset("ai.onnx");
  std::vector<TensorId> results;
  for (const TensorId &id : ids) {
    results.push_back(customOp(
        {"ai.onnx", "Identity"}, opset == 0 ? defaultAiOnnxOpset : opset, {id},
        1,
        {{"__recompute_output_in_backward_pass", checkpoint},
         {"__exclude_patterns",
          std::vector<std::string>{"PreUniRepl", "PostNRepl", "OpToIdentity"}}},
        id + "/checkpoint")[0]);
  }
  return results;
}

void ModelBuilder::setGraphName(const std::string &name) {
  implementation_->graph().set_name(name);
}

void ModelBuilder::pushNameScope(const std::string &name) {
  implementation_->scopes.push_back(name);
}

void ModelBuilder::popNameScope() {
  support::requireUser<error>(!implementation_->scopes.empty(),
                              "[Builder] there is no name scope to leave");
  implementation_->scopes.pop_back();
}

std::string ModelBuilder::getNameScope(const std::string &name) const {
  std::string joined;
  for (const std::string &scope : implementation_->scopes) {
    joined += scope + "/";
  }
  return joined + name;
}

} // namespace popart
