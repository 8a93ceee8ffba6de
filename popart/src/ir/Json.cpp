// Operations as JSON objects, of which every value is text.
#include <ir/Json.hpp>

#include <popart/opserialiser.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <set>
#include <utility>

namespace popart {
namespace {

using json = nlohmann::ordered_json;

json tensors(const Graph &graph, const std::vector<TensorId> &ids) {
  json list = json::array();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i].empty()) {
      continue;
    }
    const TensorInfo &info = graph.getTensor(ids[i]).info;
    list.push_back(
        {{"name", ids[i]},
         {"shape", fmt::format("[{}]", fmt::join(info.shape(), " "))},
         {"type", info.data_type()},
         {"index", std::to_string(i)}});
  }
  return list;
}

const char *nameOf(RecomputeType type) {
  switch (type) {
  case RecomputeType::Checkpoint:
    return "Checkpoint";
  case RecomputeType::Recompute:
    return "Recompute";
  case RecomputeType::Recomputed:
    return "Recomputed";
  case RecomputeType::Undefined:
    break;
  }
  return "Undefined";
}

// A number, unless it says that there is none.
std::string numberOr(std::int64_t number, std::int64_t none) {
  return number == none ? "none" : std::to_string(number);
}

json placement(const OpSettings &settings) {
  bool isRecomputed = settings.recomputeType == RecomputeType::Recompute ||
                      settings.recomputeType == RecomputeType::Recomputed;
  return {
      {"__ipu_number", numberOr(settings.vgraphId, unusedVGraphId)},
      {"__pipeline_stage",
       numberOr(settings.pipelineStage, unusedPipelineStage)},
      {"__execution_phase",
       numberOr(settings.executionPhase, unusedExecutionPhase)},
      {"__execution_context",
       std::to_string(static_cast<int>(settings.executionContext))},
      {"tileSet", settings.tileSet == TileSet::IO ? "IO" : "Compute"},
      {"recompute", isRecomputed ? "YES" : "NO"},
      {"recomputetype", nameOf(settings.recomputeType)},
      {"schedulePriority", fmt::format("{}", settings.schedulePriority)},
      {"scope", settings.scope.str()},
  };
}

class JsonSerialiser : public OpSerialiserBase {
public:
  explicit JsonSerialiser(json &attributes) : attributes_(attributes) {}

private:
  void append(const std::string &name, const std::string &value) override {
    attributes_[name] = value;
  }
  json &attributes_;
};

json operation(const Graph &graph, const Op &op) {
  json attributes = placement(op.settings);
  for (const auto &[name, text] : op.attributes.texts()) {
    attributes[name] = text;
  }
  JsonSerialiser serialiser(attributes);
  op.appendAttributes(serialiser);
  return {{"type", op.opid.type},
          {"name", op.settings.name},
          {"inputs", tensors(graph, op.inputs)},
          {"outputs", tensors(graph, op.outputs)},
          {"attributes", attributes}};
}

// A graph, then those that it calls.
void add(json &graphs, const Graph &graph, const std::string &name,
         std::set<const Graph *> &done) {
  json operations = json::array();
  for (const auto &op : graph.getOps()) {
    operations.push_back(operation(graph, *op));
  }
  graphs[name] = std::move(operations);
  for (const auto &op : graph.getOps()) {
    for (const Graph *called : op->getCalledGraphs()) {
      if (done.insert(called).second) {
        add(graphs, *called, called->id, done);
      }
    }
  }
}

} // namespace

std::string toJson(const Graph &graph) {
  json graphs = json::object();
  std::set<const Graph *> done;
  add(graphs, graph, "maingraph", done);
  return graphs.dump();
}

} // namespace popart
