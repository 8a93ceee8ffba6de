// ONNX's own protobuf classes, and walks over them. A heavy header: for the
// source files of this folder and of builder/ only; others name
// onnx::ModelProto without its definition.
#pragma once

#include <onnx/onnx_pb.h>

namespace popart {

// Calls f(TensorProto &) for the initialisers and the nodes' tensor attributes
// of a graph and of the graphs inside it.
template <typename F> void forEachTensor(onnx::GraphProto &graph, F &&f) {
  for (onnx::TensorProto &tensor : *graph.mutable_initializer()) {
    f(tensor);
  }
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) {
        f(*attribute.mutable_t());
      }
      for (onnx::TensorProto &tensor : *attribute.mutable_tensors()) {
        f(tensor);
      }
      if (attribute.has_g()) {
        forEachTensor(*attribute.mutable_g(), f);
      }
      for (onnx::GraphProto &inner : *attribute.mutable_graphs()) {
        forEachTensor(inner, f);
      }
    }
  }
}

// Calls f(NodeProto &) for the nodes of a graph and of the graphs inside it.
template <typename F> void forEachNode(onnx::GraphProto &graph, F &&f) {
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    f(node);
    for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) {
        forEachNode(*attribute.mutable_g(), f);
      }
    }
  }
}

} // namespace popart
