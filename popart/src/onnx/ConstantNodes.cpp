// A Constant has one attribute, whose kind says its type and shape.
#include <onnx/ConstantNodes.hpp>

#include <onnx/Import.hpp>
#include <popart/error.hpp>
#include <support/Error.hpp>

namespace popart {
namespace {

template <typename T>
void addList(Graph &graph, const onnx::NodeProto &node, bool isList,
             const std::vector<T> &values, DataType type) {
  Shape shape;
  if (isList) {
    shape.push_back(static_cast<std::int64_t>(values.size()));
  }
  graph.addConstant(node.output(0), TensorInfo(type, shape), values.data());
}

} // namespace

void addConstantNode(Graph &graph, const onnx::NodeProto &node,
                     const std::string &where) {
  using Proto = onnx::AttributeProto;
  std::vector<const Proto *> values;
  for (const Proto &attribute : node.attribute()) {
    // Constants are where they are used, whatever IPU or stage they name.
    if (attribute.name().rfind("__", 0) != 0) {
      values.push_back(&attribute);
    }
  }
  support::requireUser<error>(values.size() == 1,
                              "[ONNX] {} has {} values, not one", where,
                              values.size());
  const Proto &value = *values[0];
  Attributes held;
  addAttribute(held, value);
  if (const Attributes::Tensor *tensor = held.findTensor(value.name())) {
    graph.addConstant(node.output(0), tensor->info, tensor->data.data());
  } else if (value.type() == Proto::FLOAT || value.type() == Proto::FLOATS) {
    addList<float>(
        graph, node, value.type() == Proto::FLOATS,
        held.getFloats(value.name(), {held.getFloat(value.name(), 0.0f)}),
        DataType::FLOAT);
  } else if (value.type() == Proto::INT || value.type() == Proto::INTS) {
    addList<std::int64_t>(
        graph, node, value.type() == Proto::INTS,
        held.getInts(value.name(), {held.getInt(value.name(), 0)}),
        DataType::INT64);
  } else {
    throw error(fmt::format("[ONNX] {}: values of kind '{}' (sparse tensors, "
                            "text) are not supported",
                            where, value.name()));
  }
}

} // namespace popart
