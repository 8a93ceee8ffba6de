// Shapes around a Scan.
#include <onnx/JoinedScan.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace popart {
namespace {

std::int64_t fromFront(std::int64_t axis, std::int64_t rank) {
  support::requireUser<error>(-rank <= axis && axis < rank,
                              "axis {} is outside a tensor of rank {}", axis,
                              rank);
  return axis < 0 ? axis + rank : axis;
}

std::int64_t entry(const Attributes::Ints &list, std::size_t index) {
  return index < list.size() ? list[index] : 0;
}

// Dimensions, if the model says how many.
std::optional<std::int64_t> rankOf(const onnx::ValueInfoProto &info) {
  const auto &type = info.type().tensor_type();
  return info.has_type() && type.has_shape()
             ? std::optional<std::int64_t>(type.shape().dim_size())
             : std::nullopt;
}

std::optional<std::int64_t> declaredRank(const onnx::GraphProto &graph,
                                         const TensorId &id) {
  for (const auto *infos : {&graph.output(), &graph.value_info()}) {
    for (const onnx::ValueInfoProto &info : *infos) {
      if (info.name() == id) {
        return rankOf(info);
      }
    }
  }
  return std::nullopt;
}

} // namespace

JoinedScan::JoinedScan(Graph &graph, Attributes attributes,
                       std::vector<TensorId> inputs, Op::Settings settings)
    : graph_(graph), attributes_(std::move(attributes)),
      inputs_(std::move(inputs)), settings_(std::move(settings)),
      states_(inputs_.size()) {
  auto scanned =
      static_cast<std::size_t>(attributes_.getInt("num_scan_inputs", 0));
  support::requireUser<error>(scanned <= inputs_.size(),
                              "num_scan_inputs is {}, with {} inputs", scanned,
                              inputs_.size());
  states_ -= scanned;
}

void JoinedScan::keepAxes(const onnx::GraphProto &body) {
  Attributes::Ints axes = attributes_.getInts("scan_input_axes", {});
  for (std::size_t i = states_; i < inputs_.size(); ++i) {
    Shape shape = graph_.getTensor(inputs_[i]).info.shape();
    bool takesScalar = static_cast<int>(i) < body.input_size() &&
                       rankOf(body.input(static_cast<int>(i))) == 0;
    if (shape.size() == 1 && !takesScalar) {
      if (i - states_ < axes.size()) {
        axes[i - states_] = fromFront(axes[i - states_], 1);
      }
      shape.push_back(1);
      inputs_[i] = graph_.addOp({"aspen", "Reshape"}, {inputs_[i]}, 1,
                                Attributes().set("shape", shape), settings_)[0];
    }
  }
  if (!axes.empty()) {
    attributes_.set("scan_input_axes", axes);
  }
}

std::vector<TensorInfo> JoinedScan::bodyInputs() const {
  Attributes::Ints axes = attributes_.getInts("scan_input_axes", {});
  std::vector<TensorInfo> infos;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const TensorInfo &info = graph_.getTensor(inputs_[i]).info;
    Shape shape = info.shape();
    if (i >= states_) {
      shape.erase(shape.begin() +
                  fromFront(entry(axes, i - states_), info.rank()));
    }
    infos.emplace_back(info.dataType(), shape);
  }
  return infos;
}

void JoinedScan::joinOutputs(const Graph &body,
                             const std::vector<TensorId> &outputs,
                             const onnx::GraphProto &proto) {
  outputs_ = outputs;
  Attributes::Ints axes = attributes_.getInts("scan_output_axes", {});
  if (axes.empty()) {
    axes.resize(outputs.size() - std::min(states_, outputs.size()), 0);
  }
  for (std::size_t i = states_; i < outputs.size(); ++i) {
    if (i >= body.getOutputIds().size() || i - states_ >= axes.size() ||
        outputs[i].empty()) {
      continue; // which ScanShape refuses, or nobody wants
    }
    Rank rank = body.getTensor(body.getOutputIds()[i]).info.rank();
    // There is nothing to join scalars along.
    if (rank == 0 || declaredRank(proto, outputs[i]) == rank + 1) {
      continue;
    }
    std::int64_t &axis = axes[i - states_];
    axis = fromFront(axis, rank);
    outputs_[i] = outputs[i] + "/turns";
    joins_.push_back({outputs_[i], outputs[i], axis});
  }
  attributes_.set("scan_output_axes", axes);
}

void JoinedScan::addJoins() {
  for (const Join &join : joins_) {
    Shape shape = graph_.getTensor(join.stacked).info.shape();
    auto turns = shape.begin() + join.axis;
    std::int64_t count = *turns;
    turns = shape.erase(turns);
    *turns *= count;
    graph_.addOp({"aspen", "Reshape"}, {join.stacked},
                 std::vector<TensorId>{join.name},
                 Attributes().set("shape", shape), settings_);
  }
}

} // namespace popart
