// One node after another: ONNX's checker has seen that they are in order and
// that names are unique.
#include <onnx/Importer.hpp>

#include <onnx/ConstantNodes.hpp>
#include <onnx/Metadata.hpp>
#include <onnx/Subgraphs.hpp>
#include <onnx/TensorData.hpp>
#include <ops/Composer.hpp>
#include <ops/OpRule.hpp>
#include <ops/PlanOptions.hpp>
#include <popart/error.hpp>
#include <popart/ir.hpp>
#include <support/Error.hpp>

#include <algorithm>

namespace popart {
namespace {

// Inputs that rules read while compiling although they are floating point; as
// integers are never trained, integer initialisers need no such list.
struct CompileTimeInput {
  const char *type;
  int input;
};
constexpr CompileTimeInput compileTimeInputs[] = {
    {"Clip", 1},   {"Clip", 2},   {"Dropout", 1}, {"OneHot", 2},   {"Pad", 2},
    {"Resize", 1}, {"Resize", 2}, {"Range", 0},   {"Upsample", 1},
};

bool isFloatingPoint(DataType type) {
  return type == DataType::FLOAT || type == DataType::FLOAT16 ||
         type == DataType::BFLOAT16 || type == DataType::DOUBLE;
}

// The dimension as the model spells it: a number, a name or "?".
std::string spell(const onnx::TensorShapeProto::Dimension &dim) {
  return dim.has_dim_value()       ? std::to_string(dim.dim_value())
         : dim.dim_param().empty() ? "?"
                                   : dim.dim_param();
}

// What the node reads, its subgraphs included.
void insertReads(std::set<TensorId> &ids, const onnx::NodeProto &node) {
  ids.insert(node.input().begin(), node.input().end());
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.has_g()) {
      std::vector<TensorId> read = freeTensors(node, attribute.g());
      ids.insert(read.begin(), read.end());
    }
  }
}

void checkTypes(const onnx::NodeProto &node, const OpRule *rule,
                const Graph &graph) {
  std::span<const DataType> types;
  if (rule) {
    types = rule->schema.types;
  }
  if (types.empty() || node.input_size() == 0 || node.input(0).empty()) {
    return;
  }
  DataType type = graph.getTensor(node.input(0)).info.dataType();
  support::requireUser<error>(
      std::find(types.begin(), types.end(), type) != types.end(),
      "does not take elements of type {}", TensorInfo(type, {}).data_type());
}

void checkOutputs(const onnx::NodeProto &node, const OpRule *rule) {
  int most = rule ? rule->schema.mostOutputs : node.output_size();
  for (int i = most; i < node.output_size(); ++i) {
    support::requireUser<error>(
        node.output(i).empty(),
        "output {} ('{}') is not supported; at most {} may be asked for", i,
        node.output(i), most);
  }
}

} // namespace

void Importer::run() {
  support::requireUser<error>(proto_.sparse_initializer_size() == 0,
                              "[ONNX] the model has sparse initialisers, "
                              "which are not supported");
  addInitializers();
  for (const onnx::ValueInfoProto &input : proto_.input()) {
    if (!graph_.hasTensor(input.name()) && !unused_.count(input.name())) {
      graph_.addStream(input.name(), inputInfo(input));
    }
  }
  for (const auto &[id, settings] : inputSettingsOf(*model_.proto)) {
    if (graph_.hasTensor(id)) {
      graph_.getTensor(id).replicatedStreamMode =
          settings.replicatedStreamMode();
      graph_.getIr().inputSettings[id] = settings;
    }
  }
  for (const onnx::NodeProto &node : proto_.node()) {
    addNode(node);
  }
}

void Importer::runBody(const std::vector<BodyInput> &inputs,
                       const std::vector<TensorId> &captured,
                       const Graph &outer) {
  support::requireUser<error>(proto_.sparse_initializer_size() == 0,
                              "subgraph '{}' has sparse initialisers, which "
                              "are not supported",
                              proto_.name());
  addInitializers();
  std::size_t next = 0;
  for (const onnx::ValueInfoProto &input : proto_.input()) {
    if (graph_.hasTensor(input.name()) || unused_.count(input.name())) {
      continue; // an initialiser
    }
    support::requireUser<error>(next < inputs.size(),
                                "subgraph '{}' takes more than the {} inputs "
                                "that are passed",
                                proto_.name(), inputs.size());
    const BodyInput &given = inputs[next++];
    given.isKnown
        ? graph_.addConstant(input.name(), given.info, given.value.data())
        : graph_.addInput(input.name(), given.info);
  }
  support::requireUser<error>(
      next == inputs.size(), "subgraph '{}' takes {} inputs, but {} are passed",
      proto_.name(), next, inputs.size());
  for (const TensorId &id : captured) {
    graph_.addInput(id, outer.getTensor(id).info);
  }
  for (const TensorId &id : freeTensors(proto_)) {
    if (isCopiedIntoBodies(outer.getTensor(id))) {
      const Tensor &tensor = outer.getTensor(id);
      graph_.addConstant(id, tensor.info, tensor.data.data());
    }
  }
  for (const onnx::NodeProto &node : proto_.node()) {
    addNode(node);
  }
  for (const onnx::ValueInfoProto &output : proto_.output()) {
    graph_.markAsOutput(output.name());
  }
}

void Importer::findUses() {
  std::set<TensorId> used;
  for (const onnx::NodeProto &node : proto_.node()) {
    insertReads(used, node);
    for (const CompileTimeInput &row : compileTimeInputs) {
      if (node.op_type() == row.type && row.input < node.input_size()) {
        compileTime_.insert(node.input(row.input));
      }
    }
    if (node.op_type() == "CopyVarUpdate" && node.input_size() > 0) {
      overwritten_.insert(node.input(0));
    }
  }
  for (const onnx::ValueInfoProto &output : proto_.output()) {
    used.insert(output.name());
  }
  for (const onnx::TensorProto &tensor : proto_.initializer()) {
    if (!used.count(tensor.name())) {
      unused_.insert(tensor.name());
    }
  }
}

void Importer::addInitializers() {
  findUses();
  auto grouped = variableSettingsOf(*model_.proto);
  for (const onnx::TensorProto &tensor : proto_.initializer()) {
    auto settings = grouped.find(tensor.name());
    if (settings == grouped.end()) {
      addInitializer(tensor);
    } else {
      addGroupedInitializer(tensor, settings->second);
    }
  }
}

void Importer::addGroupedInitializer(const onnx::TensorProto &proto,
                                     const VariableSettings &settings) {
  support::requireUser<error>(
      settings.getRetrievalMode() != VariableRetrievalMode::AllReduceReplicas,
      "[ONNX] variable '{}': VariableRetrievalMode::AllReduceReplicas is not "
      "supported",
      proto.name());
  TensorInfo host = infoOf(proto);
  TensorInfo info(host.dataType(),
                  settings.shapeOnReplica(
                      host.shape(), options_.replicationFactor, proto.name()));
  graph_.addVariable(proto.name(), info, nullptr);
  Tensor &tensor = graph_.getTensor(proto.name());
  tensor.data = bytesOf(proto);
  tensor.variableSettings = settings;
}

void Importer::addInitializer(const onnx::TensorProto &tensor) {
  if (unused_.count(tensor.name())) {
    return; // see savedState
  }
  TensorInfo info = infoOf(tensor);
  std::vector<char> bytes = bytesOf(tensor);
  bool isWeight = options_.areWeightsVariable &&
                  isFloatingPoint(info.dataType()) &&
                  !compileTime_.count(tensor.name());
  if (overwritten_.count(tensor.name())) {
    graph_.addVariable(tensor.name(), info, bytes.data());
    graph_.getTensor(tensor.name()).variableUpdateType =
        VariableUpdateType::Copy;
  } else if (isWeight) {
    graph_.addVariable(tensor.name(), info, bytes.data());
  } else {
    graph_.addConstant(tensor.name(), info, bytes.data());
  }
}

TensorInfo Importer::inputInfo(const onnx::ValueInfoProto &input) const {
  const TensorId &id = input.name();
  if (options_.inputShapeInfo.has(id)) {
    return options_.inputShapeInfo.get(id);
  }
  support::requireUser<error>(input.type().has_tensor_type(),
                              "[ONNX] input '{}' is not a tensor", id);
  const auto &type = input.type().tensor_type();
  Shape shape;
  std::string spelled;
  std::string unknown = type.has_shape() ? "" : "?";
  for (const auto &dim : type.shape().dim()) {
    spelled += (spelled.empty() ? "" : ", ") + spell(dim);
    unknown = dim.has_dim_value() ? unknown : spell(dim);
    shape.push_back(dim.dim_value());
  }
  support::requireUser<error>(
      unknown.empty(),
      "Input tensor '{}' must be specified in InputShapeInfo, as it has "
      "shape [{}], which uses an unknown value '{}'",
      id, spelled, unknown);
  std::string what = fmt::format("[ONNX] input '{}'", id);
  DataType element = fromOnnxType(type.elem_type());
  support::requireUser<error>(element != DataType::UNDEFINED,
                              "{} has ONNX's element type {}, which PopART "
                              "does not have",
                              what, type.elem_type());
  return checkedInfo(element, shape, what);
}

void Importer::addNode(const onnx::NodeProto &node) {
  std::string domain = node.domain().empty() ? "ai.onnx" : node.domain();
  std::string where =
      fmt::format("node '{}' ({}.{}, opset {})",
                  node.name().empty() && node.output_size() > 0 ? node.output(0)
                                                                : node.name(),
                  domain, node.op_type(), model_.opset(domain));
  if (domain == "ai.onnx" && node.op_type() == "Constant") {
    addConstantNode(graph_, node, where);
    return;
  }
  OperatorIdentifier opid =
      resolveOperator(domain, node.op_type(), model_.opset(domain),
                      options_.strictOpVersions, where);
  try {
    addOperation(node, opid);
  } catch (const error &e) {
    throw error(fmt::format("[ONNX] {}: {}", where, e.what()));
  }
}

void Importer::addOperation(const onnx::NodeProto &node,
                            const OperatorIdentifier &opid) {
  Attributes attributes;
  bool hasBodies = false;
  Op::Settings settings;
  settings.name = node.name().empty() ? node.op_type() : node.name();
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.name() == "__ipu_number") {
      settings.vgraphId = attribute.i();
    } else if (attribute.name() == "__pipeline_stage") {
      settings.pipelineStage = attribute.i();
    } else if (attribute.has_g()) {
      hasBodies = true;
    } else {
      support::requireUser<error>(
          addAttribute(attributes, attribute),
          "attribute '{}' is of a kind that is not supported",
          attribute.name());
    }
  }
  checkPlan(attributes);
  settings.setFromAttributes(attributes);
  const OpRule *rule = findOpRule(opid);
  checkTypes(node, rule, graph_);
  checkOutputs(node, rule);
  if (hasBodies) {
    SubgraphImporter(model_, proto_, options_, graph_)
        .add(withPassedInputs(node), opid, attributes, settings);
    return;
  }
  addOrCompose(graph_, opid, {node.input().begin(), node.input().end()},
               {node.output().begin(), node.output().end()}, attributes,
               settings);
  for (const TensorId &id : node.output()) {
    if (!id.empty()) {
      const TensorInfo &info = graph_.getTensor(id).info;
      checkedInfo(info.dataType(), info.shape(), "output '" + id + "'");
    }
  }
}

void importModel(const OnnxModel &model, const ImportOptions &options,
                 Graph &graph) {
  Importer(model, model.proto->graph(), options, graph).run();
}

std::map<TensorId, Attributes::Tensor> savedState(const OnnxModel &model) {
  std::set<TensorId> used;
  for (const onnx::NodeProto &node : model.proto->graph().node()) {
    insertReads(used, node);
  }
  std::map<TensorId, Attributes::Tensor> state;
  for (const onnx::TensorProto &tensor : model.proto->graph().initializer()) {
    if (!used.count(tensor.name())) {
      state[tensor.name()] = {infoOf(tensor), bytesOf(tensor)};
    }
  }
  return state;
}

bool addAttribute(Attributes &attributes, const onnx::AttributeProto &proto) {
  using Proto = onnx::AttributeProto;
  const std::string &name = proto.name();
  switch (proto.type()) {
  case Proto::INT:
    attributes.set(name, Attributes::Int{proto.i()});
    return true;
  case Proto::FLOAT:
    attributes.set(name, proto.f());
    return true;
  case Proto::STRING:
    attributes.set(name, proto.s());
    return true;
  case Proto::INTS:
    attributes.set(name,
                   Attributes::Ints(proto.ints().begin(), proto.ints().end()));
    return true;
  case Proto::FLOATS:
    attributes.set(
        name, Attributes::Floats(proto.floats().begin(), proto.floats().end()));
    return true;
  case Proto::STRINGS:
    attributes.set(name, Attributes::Strings(proto.strings().begin(),
                                             proto.strings().end()));
    return true;
  case Proto::TENSOR:
    attributes.set(name,
                   Attributes::Tensor{infoOf(proto.t()), bytesOf(proto.t())});
    return true;
  default:
    return false;
  }
}

} // namespace popart
