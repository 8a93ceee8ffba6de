// Types and shapes of what nodes with subgraphs give, as far as the subgraphs
// say them.
#include <builder/Builder.hpp>

#include <onnx/Import.hpp>
#include <onnx/TensorData.hpp>

#include <cstring>
#include <optional>

namespace popart {
namespace {

using Info = std::optional<TensorInfo>;

// The subgraph that has a node's outputs; the branches of an If have the same.
const onnx::GraphProto *bodyOf(const onnx::NodeProto &node) {
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.has_g() && attribute.name() != "else_branch") {
      return &attribute.g();
    }
  }
  return nullptr;
}

Info infoOf(const onnx::GraphProto &body, int output) {
  if (output >= body.output_size()) {
    return {};
  }
  const auto &type = body.output(output).type().tensor_type();
  Shape shape;
  for (const auto &dim : type.shape().dim()) {
    shape.push_back(dim.dim_value());
  }
  return type.has_shape()
             ? Info(TensorInfo(fromOnnxType(type.elem_type()), shape))
             : Info();
}

Info infoOf(const Graph &shapes, const TensorId &id) {
  return shapes.hasTensor(id) ? Info(shapes.getTensor(id).info) : Info();
}

// With the turns of a loop as another dimension.
Info stacked(Info info, std::optional<std::int64_t> turns, std::int64_t axis) {
  if (!info || !turns) {
    return {};
  }
  Shape shape = info->shape();
  auto rank = static_cast<std::int64_t>(shape.size()) + 1;
  axis = axis < 0 ? axis + rank : axis;
  if (axis < 0 || axis >= rank) {
    return {};
  }
  shape.insert(shape.begin() + axis, *turns);
  return TensorInfo(info->dataType(), shape);
}

// PopART's Scan joins what its turns return (onnx/JoinedScan.hpp).
Info joined(Info info, std::optional<std::int64_t> turns, std::int64_t axis) {
  if (!info || !turns || info->rank() == 0) {
    return stacked(info, turns, 0);
  }
  Shape shape = info->shape();
  axis = axis < 0 ? axis + info->rank() : axis;
  if (axis < 0 || axis >= info->rank()) {
    return {};
  }
  shape[static_cast<std::size_t>(axis)] *= *turns;
  return TensorInfo(info->dataType(), shape);
}

Info loopOutput(const Graph &shapes, const onnx::NodeProto &node,
                const onnx::GraphProto &body, int output) {
  if (output + 2 < node.input_size()) {
    return infoOf(shapes, node.input(output + 2));
  }
  std::optional<std::int64_t> turns;
  const TensorId &trips = node.input(0);
  if (shapes.hasTensor(trips)) {
    const TensorData &data = shapes.getTensor(trips).data;
    if (data.size() == sizeof(*turns)) {
      turns.emplace();
      std::memcpy(&*turns, data.data(), sizeof(*turns));
    }
  }
  return stacked(infoOf(body, output + 1), turns, 0);
}

std::int64_t entry(const Attributes::Ints &list, int index) {
  auto i = static_cast<std::size_t>(index);
  return i < list.size() ? list[i] : 0;
}

Info scanOutput(const Graph &shapes, const onnx::NodeProto &node,
                const onnx::GraphProto &body, int output) {
  Attributes attributes;
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    addAttribute(attributes, attribute);
  }
  int states = node.input_size() -
               static_cast<int>(attributes.getInt("num_scan_inputs", 0));
  if (states < 0 || states >= node.input_size()) {
    return {};
  }
  if (output < states) {
    return infoOf(shapes, node.input(output));
  }
  std::optional<std::int64_t> turns;
  if (Info scanned = infoOf(shapes, node.input(states))) {
    std::int64_t axis = entry(attributes.getInts("scan_input_axes", {}), 0);
    axis = axis < 0 ? axis + scanned->rank() : axis;
    if (0 <= axis && axis < scanned->rank()) {
      turns = scanned->shape()[static_cast<std::size_t>(axis)];
    }
  }
  return joined(
      infoOf(body, output), turns,
      entry(attributes.getInts("scan_output_axes", {}), output - states));
}

// Rows of sequences, packed.
Info packedOutput(const onnx::NodeProto &node, const onnx::GraphProto &body) {
  Info info = infoOf(body, 0);
  if (!info || info->rank() < 2) {
    return {};
  }
  Attributes attributes;
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    addAttribute(attributes, attribute);
  }
  Shape shape = info->shape();
  shape.erase(shape.begin());
  shape[0] = attributes.getInt("resultSize", 0);
  return TensorInfo(info->dataType(), shape);
}

} // namespace

bool ModelBuilder::Implementation::inferBodies(const onnx::NodeProto &node) {
  const onnx::GraphProto *body = bodyOf(node);
  if (!body) {
    return false;
  }
  const std::string &type = node.op_type();
  for (int i = 0; i < node.output_size(); ++i) {
    Info info;
    if (type == "Loop") {
      info = loopOutput(shapes, node, *body, i);
    } else if (type == "PackedDataBlock") {
      info = packedOutput(node, *body);
    } else if (type != "Scan") {
      info = infoOf(*body, i);
    } else if (opset("ai.onnx") >= 9) {
      info = scanOutput(shapes, node, *body, i);
    }
    if (info) {
      shapes.addStream(node.output(i), *info);
      setOutputInfo(node.output(i), *info, node);
    }
  }
  return true;
}

} // namespace popart
