// Operations as JSON objects.
#include <ir/Json.hpp>

#include <nlohmann/json.hpp>

namespace popart {
namespace {

using nlohmann::json;

json tensors(const Graph &graph, const std::vector<TensorId> &ids) {
  json list = json::array();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i].empty()) {
      continue;
    }
    const TensorInfo &info = graph.getTensor(ids[i]).info;
    list.push_back({{"name", ids[i]},
                    {"index", i},
                    {"type", info.data_type()},
                    {"shape", info.shape()}});
  }
  return list;
}

json placement(const Op::Settings &settings) {
  json result = json::object();
  if (settings.vgraphId != unusedVGraphId) {
    result["__ipu_number"] = settings.vgraphId;
  }
  if (settings.pipelineStage != unusedPipelineStage) {
    result["__pipeline_stage"] = settings.pipelineStage;
  }
  return result;
}

} // namespace

std::string toJson(const Graph &graph) {
  json operations = json::array();
  for (const auto &op : graph.getOps()) {
    json attributes = placement(op->settings);
    attributes["values"] = op->attributes.str();
    operations.push_back({{"type", op->opid.type},
                          {"domain", op->opid.domain},
                          {"version", op->opid.version},
                          {"name", op->settings.name},
                          {"attributes", attributes},
                          {"inputs", tensors(graph, op->inputs)},
                          {"outputs", tensors(graph, op->outputs)}});
  }
  return json{{"maingraph", operations}}.dump();
}

} // namespace popart
