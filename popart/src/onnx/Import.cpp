// One node after another: ONNX's checker has seen that they are in order and
// that names are unique.
#include <onnx/Import.hpp>

#include <onnx/Proto.hpp>
#include <onnx/Schemas.hpp>
#include <onnx/TensorData.hpp>
#include <ops/OpRule.hpp>
#include <popart/error.hpp>
#include <popart/opmanager.hpp>
#include <support/Error.hpp>
#include <support/Shape.hpp>

#include <algorithm>
#include <set>

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

class Importer {
public:
  Importer(const OnnxModel &model, const ImportOptions &options, Graph &graph)
      : model_(model), proto_(model.proto->graph()), options_(options),
        graph_(graph) {}

  void run() {
    support::requireUser<error>(proto_.sparse_initializer_size() == 0,
                                "[ONNX] the model has sparse initialisers, "
                                "which are not supported");
    findUses();
    for (const onnx::TensorProto &tensor : proto_.initializer()) {
      addInitializer(tensor);
    }
    for (const onnx::ValueInfoProto &input : proto_.input()) {
      if (!graph_.hasTensor(input.name()) && !unused_.count(input.name())) {
        graph_.addStream(input.name(), inputInfo(input));
      }
    }
    readInputSettings();
    for (const onnx::NodeProto &node : proto_.node()) {
      addNode(node);
    }
  }

private:
  void findUses() {
    std::set<TensorId> used;
    for (const onnx::NodeProto &node : proto_.node()) {
      used.insert(node.input().begin(), node.input().end());
      for (const CompileTimeInput &row : compileTimeInputs) {
        if (node.op_type() == row.type && row.input < node.input_size()) {
          compileTime_.insert(node.input(row.input));
        }
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

  // The Builder writes them beside the graph, as <setting>/<tensor>.
  void readInputSettings() {
    const std::string prefix = "__replicated_stream_mode/";
    for (const auto &entry : model_.proto->metadata_props()) {
      TensorId id = entry.key().rfind(prefix, 0) == 0
                        ? entry.key().substr(prefix.size())
                        : TensorId();
      if (graph_.hasTensor(id) &&
          entry.value() == std::to_string(static_cast<int>(
                               ReplicatedStreamMode::Broadcast))) {
        graph_.getTensor(id).replicatedStreamMode =
            ReplicatedStreamMode::Broadcast;
      }
    }
  }

  void addInitializer(const onnx::TensorProto &tensor) {
    if (unused_.count(tensor.name())) {
      return; // see savedState
    }
    TensorInfo info = infoOf(tensor);
    std::vector<char> bytes = bytesOf(tensor);
    bool isVariable = options_.areWeightsVariable &&
                      isFloatingPoint(info.dataType()) &&
                      !compileTime_.count(tensor.name());
    if (isVariable) {
      graph_.addVariable(tensor.name(), info, bytes.data());
    } else {
      graph_.addConstant(tensor.name(), info, bytes.data());
    }
  }

  TensorInfo inputInfo(const onnx::ValueInfoProto &input) const {
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

  void addNode(const onnx::NodeProto &node) {
    std::string domain = node.domain().empty() ? "ai.onnx" : node.domain();
    std::string where = fmt::format(
        "node '{}' ({}.{}, opset {})",
        node.name().empty() && node.output_size() > 0 ? node.output(0)
                                                      : node.name(),
        domain, node.op_type(), model_.opset(domain));
    if (domain == "ai.onnx" && node.op_type() == "Constant") {
      addConstant(node, where);
      return;
    }
    OperatorIdentifier opid =
        resolveOperator(domain, node.op_type(), model_.opset(domain),
                        options_.strictOpVersions, where);
    Attributes attributes;
    Op::Settings settings;
    settings.name = node.name().empty() ? node.op_type() : node.name();
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.name() == "__ipu_number") {
        settings.vgraphId = attribute.i();
      } else if (attribute.name() == "__pipeline_stage") {
        settings.pipelineStage = attribute.i();
      } else if (attribute.name() == "__execution_phase") {
        settings.executionPhase = attribute.i();
      } else {
        support::requireUser<error>(
            addAttribute(attributes, attribute),
            "[ONNX] {}: attribute '{}' is of a kind that is not supported",
            where, attribute.name());
      }
    }
    try {
      checkTypes(node, opid);
      checkOutputs(node, opid);
      const Op &op = graph_.addOp(
          opid, {node.input().begin(), node.input().end()},
          {node.output().begin(), node.output().end()}, attributes, settings);
      for (const TensorId &id : op.outputs) {
        const TensorInfo &info = graph_.getTensor(id).info;
        checkedInfo(info.dataType(), info.shape(), "output '" + id + "'");
      }
    } catch (const error &e) {
      throw error(fmt::format("[ONNX] {}: {}", where, e.what()));
    }
  }

  static void checkOutputs(const onnx::NodeProto &node,
                           const OperatorIdentifier &opid) {
    const OpRule *rule = findOpRule(opid);
    int most = rule ? rule->schema.mostOutputs : node.output_size();
    for (int i = most; i < node.output_size(); ++i) {
      support::requireUser<error>(
          node.output(i).empty(),
          "output {} ('{}') is not supported; at most {} may be asked for", i,
          node.output(i), most);
    }
  }

  void checkTypes(const onnx::NodeProto &node,
                  const OperatorIdentifier &opid) const {
    const OpRule *rule = findOpRule(opid);
    std::span<const DataType> types;
    if (rule) {
      types = rule->schema.types;
    }
    if (types.empty() || node.input_size() == 0 || node.input(0).empty()) {
      return;
    }
    DataType type = graph_.getTensor(node.input(0)).info.dataType();
    support::requireUser<error>(
        std::find(types.begin(), types.end(), type) != types.end(),
        "does not take elements of type {}", TensorInfo(type, {}).data_type());
  }

  // Constants are tensors of the graph, not operations.
  void addConstant(const onnx::NodeProto &node, const std::string &where) {
    support::requireUser<error>(node.attribute_size() == 1,
                                "[ONNX] {} has {} values, not one", where,
                                node.attribute_size());
    const onnx::AttributeProto &value = node.attribute(0);
    Attributes held;
    addAttribute(held, value);
    if (const Attributes::Tensor *tensor = held.findTensor(value.name())) {
      graph_.addConstant(node.output(0), tensor->info, tensor->data.data());
    } else if (value.type() == onnx::AttributeProto::FLOAT ||
               value.type() == onnx::AttributeProto::FLOATS) {
      addList<float>(
          node, value.type() == onnx::AttributeProto::FLOATS,
          held.getFloats(value.name(), {held.getFloat(value.name(), 0.0f)}),
          DataType::FLOAT);
    } else if (value.type() == onnx::AttributeProto::INT ||
               value.type() == onnx::AttributeProto::INTS) {
      addList<std::int64_t>(
          node, value.type() == onnx::AttributeProto::INTS,
          held.getInts(value.name(), {held.getInt(value.name(), 0)}),
          DataType::INT64);
    } else {
      throw error(fmt::format("[ONNX] {}: values of kind '{}' (sparse tensors, "
                              "text) are not supported",
                              where, value.name()));
    }
  }

  template <typename T>
  void addList(const onnx::NodeProto &node, bool isList,
               const std::vector<T> &values, DataType type) {
    Shape shape;
    if (isList) {
      shape.push_back(static_cast<std::int64_t>(values.size()));
    }
    graph_.addConstant(node.output(0), TensorInfo(type, shape), values.data());
  }

  const OnnxModel &model_;
  const onnx::GraphProto &proto_;
  const ImportOptions &options_;
  Graph &graph_;
  std::set<TensorId> compileTime_; // initialisers that must be constants
  std::set<TensorId> unused_;
};

} // namespace

void importModel(const OnnxModel &model, const ImportOptions &options,
                 Graph &graph) {
  Importer(model, options, graph).run();
}

std::map<TensorId, Attributes::Tensor> savedState(const OnnxModel &model) {
  std::set<TensorId> used;
  for (const onnx::NodeProto &node : model.proto->graph().node()) {
    used.insert(node.input().begin(), node.input().end());
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

OperatorIdentifier resolveOperator(const std::string &domain,
                                   const std::string &type, int opset,
                                   bool strictOpVersions,
                                   const std::string &node) {
  OperatorIdentifier opid{domain, type, std::max(opset, 1)};
  const OpRule *rule = findOpRule(opid);
  if (!rule) { // a shared object may have brought it
    if (const auto *custom = OpManager::find(domain, type, opid.version)) {
      return *custom;
    }
  }
  if (domain != "ai.onnx") {
    support::requireUser<error>(rule != nullptr && domain != "aspen",
                                "No class for {}.{}:{} at {}", domain, type,
                                opid.version, node);
    return opid;
  }
  auto schema = findOnnxOperator(type, opset);
  opid.version = schema ? schema->sinceVersion : opset;
  const std::vector<int> none;
  const std::vector<int> &known = rule ? rule->schema.versions : none;
  if (std::find(known.begin(), known.end(), opid.version) != known.end()) {
    return opid;
  }
  if (!strictOpVersions) {
    int lower = 0;
    for (int version : known) {
      lower = version < opid.version ? std::max(lower, version) : lower;
    }
    if (lower > 0) {
      opid.version = lower;
      return opid;
    }
  }
  support::requireUser<error>(
      known.empty(),
      "No class for {}.{}:{} at {}; its versions are "
      "{} (option strictOpVersions)",
      domain, type, opid.version, node,
      support::toString(std::vector<std::int64_t>(known.begin(), known.end())));
  throw error(fmt::format("No class for {}.{}:{} at {}", domain, type,
                          opid.version, node));
}

} // namespace popart
