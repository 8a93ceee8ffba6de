// From nodes with subgraphs to operations with graphs.
#include <onnx/Subgraphs.hpp>

#include <onnx/JoinedScan.hpp>

#include <onnx/PackedData.hpp>
#include <onnx/TensorData.hpp>
#include <onnx/Unroll.hpp>
#include <popart/error.hpp>
#include <popart/ir.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <cstring>
#include <set>

namespace popart {
namespace {

constexpr std::int64_t mostElementsCopied = 4096;

constexpr const char *markOfParent = "a tensor of a graph around this one";

bool isOfParent(const onnx::ValueInfoProto &input) {
  return input.doc_string() == markOfParent;
}

// Whether the node passes all inputs of its subgraph, in their order.
bool passesAll(const onnx::NodeProto &node, const onnx::GraphProto &body) {
  return node.op_type() == "Call" && node.input_size() == body.input_size();
}

void findFree(const onnx::GraphProto &body, bool isPassedAll,
              std::set<TensorId> known, std::vector<TensorId> &found) {
  for (const auto &input : body.input()) {
    if (isPassedAll || !isOfParent(input)) {
      known.insert(input.name());
    }
  }
  for (const auto &tensor : body.initializer()) {
    known.insert(tensor.name());
  }
  auto use = [&](const TensorId &id) {
    bool isNew = !id.empty() && !known.count(id) &&
                 std::find(found.begin(), found.end(), id) == found.end();
    if (isNew) {
      found.push_back(id);
    }
  };
  for (const onnx::NodeProto &node : body.node()) {
    for (const TensorId &id : node.input()) {
      use(id);
    }
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.has_g()) {
        findFree(attribute.g(), passesAll(node, attribute.g()), known, found);
      }
    }
    known.insert(node.output().begin(), node.output().end());
  }
  for (const auto &output : body.output()) {
    use(output.name());
  }
}

const onnx::GraphProto &bodyOf(const onnx::NodeProto &node,
                               const std::string &name) {
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.name() == name && attribute.has_g()) {
      return attribute.g();
    }
  }
  throw error(fmt::format("has no subgraph '{}'", name));
}

bool reads(const onnx::GraphProto &body, const TensorId &id) {
  onnx::GraphProto inside = body;
  inside.clear_input();
  std::vector<TensorId> free = freeTensors(inside);
  return std::find(free.begin(), free.end(), id) != free.end();
}

// The node of a graph that makes a tensor, or null.
const onnx::NodeProto *producerOf(const onnx::GraphProto &body,
                                  const TensorId &id) {
  for (const onnx::NodeProto &node : body.node()) {
    if (std::count(node.output().begin(), node.output().end(), id) > 0) {
      return &node;
    }
  }
  return nullptr;
}

// A tensor of a subgraph that is true, or what the subgraph is given as input
// `input`.
bool isTrueOr(const onnx::GraphProto &body, int input, TensorId id) {
  const onnx::NodeProto *node = producerOf(body, id);
  while (node && node->op_type() == "Identity") {
    id = node->input(0);
    node = producerOf(body, id);
  }
  bool isConstant = node && node->op_type() == "Constant" &&
                    node->attribute_size() == 1 && node->attribute(0).has_t();
  std::vector<char> value =
      isConstant ? bytesOf(node->attribute(0).t()) : std::vector<char>();
  bool isTrue = value.size() == 1 && value[0] != 0;
  return isTrue || body.input(input).name() == id;
}

TensorInfo without(const TensorInfo &info, std::int64_t axis) {
  Shape shape = info.shape();
  std::int64_t index = axis < 0 ? axis + info.rank() : axis;
  support::requireUser<error>(0 <= index && index < info.rank(),
                              "axis {} is outside a tensor of rank {}", axis,
                              info.rank());
  shape.erase(shape.begin() + index);
  return TensorInfo(info.dataType(), shape);
}

} // namespace

void markAsOfParent(onnx::ValueInfoProto &input, const TensorId &id) {
  input.set_name(id);
  input.set_doc_string(markOfParent);
}

onnx::NodeProto withPassedInputs(const onnx::NodeProto &node) {
  onnx::NodeProto result = node;
  for (onnx::AttributeProto &attribute : *result.mutable_attribute()) {
    if (attribute.has_g() && !passesAll(node, attribute.g())) {
      auto &inputs = *attribute.mutable_g()->mutable_input();
      inputs.erase(std::remove_if(inputs.begin(), inputs.end(), isOfParent),
                   inputs.end());
    }
  }
  return result;
}

std::vector<TensorId> freeTensors(const onnx::GraphProto &body) {
  std::vector<TensorId> found;
  findFree(body, true, {}, found);
  return found;
}

std::vector<TensorId> freeTensors(const onnx::NodeProto &node,
                                  const onnx::GraphProto &body) {
  std::vector<TensorId> found;
  findFree(body, passesAll(node, body), {}, found);
  return found;
}

bool isCopiedIntoBodies(const Tensor &tensor) {
  return tensor.type == TensorType::Const &&
         tensor.info.nelms() <= mostElementsCopied;
}

SubgraphImporter::SubgraphImporter(const OnnxModel &model,
                                   const onnx::GraphProto &proto,
                                   const ImportOptions &options, Graph &graph)
    : model_(model), proto_(proto), options_(options), graph_(graph) {
  options_.areWeightsVariable = false; // a subgraph keeps nothing
}

void SubgraphImporter::add(const onnx::NodeProto &proto,
                           const OperatorIdentifier &opid,
                           const Attributes &attributes,
                           const Op::Settings &settings) {
  Node node{proto,
            opid,
            attributes,
            settings,
            {proto.input().begin(), proto.input().end()},
            {}};
  for (const onnx::AttributeProto &attribute : proto.attribute()) {
    if (!attribute.has_g()) {
      continue;
    }
    for (const TensorId &id : freeTensors(attribute.g())) {
      bool isNew = !isCopiedIntoBodies(graph_.getTensor(id)) &&
                   std::find(node.captured.begin(), node.captured.end(), id) ==
                       node.captured.end();
      if (isNew) {
        node.captured.push_back(id);
      }
    }
  }
  const std::string &type = opid.type;
  if (type == "If") {
    addIf(node);
  } else if (type == "Loop") {
    addLoop(node);
  } else if (type == "Scan") {
    opid.version < 9 ? addBatchedScan(node) : addScan(node);
  } else if (type == "PackedDataBlock") {
    addPackedData(node);
  } else {
    support::requireUser<error>(type == "Call",
                                "attributes that are graphs are not supported");
    addCall(node);
  }
}

BodyInput SubgraphImporter::passed(const TensorId &id) const {
  return {graph_.getTensor(id).info};
}

Graph &SubgraphImporter::importBody(const Node &node,
                                    const onnx::GraphProto &body,
                                    const std::vector<BodyInput> &inputs) {
  Graph &graph = graph_.getIr().createGraph(body.name());
  Importer(model_, body, options_, graph)
      .runBody(inputs, node.captured, graph_);
  return graph;
}

void SubgraphImporter::addOp(Node &node) {
  node.attributes.set("captured",
                      static_cast<Attributes::Int>(node.captured.size()));
  node.inputs.insert(node.inputs.end(), node.captured.begin(),
                     node.captured.end());
  graph_.addOp(node.opid, node.inputs,
               {node.proto.output().begin(), node.proto.output().end()},
               node.attributes, node.settings);
}

void SubgraphImporter::addIf(Node &node) {
  const Tensor &condition = graph_.getTensor(node.proto.input(0));
  if (condition.type == TensorType::Const && condition.data.size() == 1) {
    // The other branch may not even make sense: exporters ask for shapes.
    const char *taken = condition.data[0] ? "then_branch" : "else_branch";
    Graph &graph = importBody(node, bodyOf(node.proto, taken), {});
    Unroller(graph_, node.settings)
        .call(graph, node.captured,
              {node.proto.output().begin(), node.proto.output().end()});
    return;
  }
  for (const char *branch : {"then_branch", "else_branch"}) {
    Graph &graph = importBody(node, bodyOf(node.proto, branch), {});
    node.attributes.set(branch, Attributes::Graph{graph.id});
  }
  addOp(node);
}

void SubgraphImporter::addCall(Node &node) {
  std::vector<BodyInput> inputs;
  for (const TensorId &id : node.inputs) {
    inputs.push_back(passed(id));
  }
  Graph &graph = importBody(node, bodyOf(node.proto, "callee"), inputs);
  node.attributes.set("callee", Attributes::Graph{graph.id});
  addOp(node);
}

void SubgraphImporter::addPackedData(Node &node) {
  PackedData packed(graph_, node.attributes, node.inputs, node.settings);
  std::vector<BodyInput> inputs;
  for (const TensorInfo &info : packed.unpackedInfos()) {
    inputs.push_back({info});
  }
  Graph &graph = importBody(node, bodyOf(node.proto, "callback"), inputs);
  packed.add(graph, node.captured, node.proto.output(0));
}

std::optional<std::int64_t>
SubgraphImporter::knownTurns(const Node &node,
                             const onnx::GraphProto &body) const {
  auto find = [&](int input) -> const Tensor * {
    const TensorId &id = node.proto.input(input);
    return id.empty() ? nullptr : &graph_.getTensor(id);
  };
  const Tensor *trips = find(0);
  const Tensor *start = find(1);
  bool startsTrue = !start || (start->type == TensorType::Const &&
                               start->data.size() == 1 && start->data[0] != 0);
  if (!trips || trips->type != TensorType::Const || !startsTrue ||
      !isTrueOr(body, 1, body.output(0).name())) {
    return std::nullopt;
  }
  std::int64_t turns = 0;
  support::requireUser<error>(trips->data.size() == sizeof(turns),
                              "the number of turns must be one INT64");
  std::memcpy(&turns, trips->data.data(), sizeof(turns));
  return turns;
}

void SubgraphImporter::addLoop(Node &node) {
  const onnx::GraphProto &body = bodyOf(node.proto, "body");
  support::requireUser<error>(
      body.input_size() >= 2 && body.output_size() >= 1,
      "the body takes {} inputs and gives {} outputs; it needs a number, a "
      "condition and gives a condition",
      body.input_size(), body.output_size());
  std::optional<std::int64_t> turns = knownTurns(node, body);
  // Gradients go through turns that are written out.
  bool differ = options_.isTraining || reads(body, body.input(0).name());
  if (turns && *turns > 0 && differ) {
    unrollLoop(node, body, *turns);
    return;
  }
  std::vector<BodyInput> inputs = {{TensorInfo(DataType::INT64, {})},
                                   {TensorInfo(DataType::BOOL, {})}};
  for (std::size_t i = 2; i < node.inputs.size(); ++i) {
    inputs.push_back(passed(node.inputs[i]));
  }
  Graph &graph = importBody(node, body, inputs);
  auto results = static_cast<int>(graph.getOutputIds().size()) - 1;
  support::requireUser<error>(node.proto.output_size() <= results,
                              "has {} outputs, not {}", results,
                              node.proto.output_size());
  node.attributes.set("body", Attributes::Graph{graph.id});
  if (turns) {
    node.attributes.set("turns", Attributes::Int{*turns});
  }
  addOp(node);
}

void SubgraphImporter::unrollLoop(const Node &node,
                                  const onnx::GraphProto &body,
                                  std::int64_t turns) {
  Unroller unroller(graph_, node.settings);
  std::vector<TensorId> values(node.inputs.begin() + 2, node.inputs.end());
  std::vector<std::vector<TensorId>> collected;
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    std::vector<char> number(sizeof(turn));
    std::memcpy(number.data(), &turn, sizeof(turn));
    std::vector<BodyInput> inputs = {
        {TensorInfo(DataType::INT64, {}), true, number},
        {TensorInfo(DataType::BOOL, {}), true, {1}}};
    for (const TensorId &id : values) {
      inputs.push_back(passed(id));
    }
    Graph &graph = importBody(node, body, inputs);
    std::vector<TensorId> given = values;
    given.insert(given.end(), node.captured.begin(), node.captured.end());
    std::vector<TensorId> results = unroller.call(graph, given);
    support::requireUser<error>(
        results.size() > values.size() &&
            node.proto.output_size() < static_cast<int>(results.size()),
        "the body returns {} tensors, with {} values that the next turn takes "
        "and {} outputs",
        results.size(), values.size(), node.proto.output_size());
    std::copy_n(results.begin() + 1, values.size(), values.begin());
    collected.resize(results.size() - values.size() - 1);
    for (std::size_t i = 0; i < collected.size(); ++i) {
      collected[i].push_back(results[1 + values.size() + i]);
    }
  }
  std::vector<TensorId> names(node.proto.output().begin(),
                              node.proto.output().end());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const TensorId &name = names[i];
    if (!name.empty()) {
      i < values.size() ? unroller.rename(values[i], name)
                        : unroller.stack(collected[i - values.size()], 0, name);
    }
  }
}

// ONNX's Scan, or PopART's in terms of it: see JoinedScan.
void SubgraphImporter::addScan(Node &node) {
  JoinedScan scan(graph_, node.attributes, node.inputs, node.settings);
  const onnx::GraphProto &proto = bodyOf(node.proto, "body");
  scan.keepAxes(proto);
  std::vector<BodyInput> inputs;
  for (const TensorInfo &info : scan.bodyInputs()) {
    inputs.push_back({info});
  }
  Graph &graph = importBody(node, proto, inputs);
  scan.joinOutputs(
      graph, {node.proto.output().begin(), node.proto.output().end()}, proto_);
  popart::addScan(graph_,
                  {graph, scan.attributes(), scan.inputs(), node.captured,
                   scan.outputs(), node.settings},
                  options_.isTraining);
  scan.addJoins();
}

// Version 8 scans each sample of a batch by itself: one scan in another.
void SubgraphImporter::addBatchedScan(Node &node) {
  support::requireUser<error>(!node.inputs.empty() && node.inputs[0].empty(),
                              "sequence_lens is not supported");
  node.inputs.erase(node.inputs.begin());
  auto count = static_cast<std::int64_t>(node.inputs.size());
  std::int64_t scanned = node.attributes.getInt("num_scan_inputs", 0);
  const onnx::GraphProto &proto = bodyOf(node.proto, "body");
  Graph &sample = graph_.getIr().createGraph(proto.name() + "_sample");
  std::vector<BodyInput> inputs;
  std::vector<TensorId> names;
  for (std::int64_t i = 0; i < count; ++i) {
    const TensorId &id = node.inputs[static_cast<std::size_t>(i)];
    TensorInfo info = without(graph_.getTensor(id).info, 0);
    names.push_back(sample.addInput("sample/" + std::to_string(i), info));
    inputs.push_back({i < count - scanned ? info : without(info, 0)});
  }
  for (const TensorId &id : node.captured) {
    sample.addInput(id, graph_.getTensor(id).info);
  }
  Graph &body = importBody(node, proto, inputs);
  std::vector<TensorId> results;
  for (std::size_t i = 0; i < body.getOutputIds().size(); ++i) {
    results.push_back("result/" + std::to_string(i));
  }
  Attributes inner;
  inner.set("num_scan_inputs", scanned);
  if (node.attributes.hasAttribute("directions")) {
    inner.set("scan_input_directions",
              node.attributes.getInts("directions", {}));
  }
  popart::addScan(sample,
                  {body, inner, names, node.captured, results, node.settings},
                  options_.isTraining);
  for (const TensorId &id : results) {
    sample.markAsOutput(id);
  }
  popart::addScan(graph_,
                  {sample,
                   Attributes().set("num_scan_inputs", Attributes::Int{count}),
                   node.inputs,
                   node.captured,
                   {node.proto.output().begin(), node.proto.output().end()},
                   node.settings},
                  options_.isTraining);
}

} // namespace popart
