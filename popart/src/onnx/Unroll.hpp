// Loops written out: a call of the subgraph for each turn. The pass inlineCalls
// puts the operations in their place, so that gradients know only those.
#pragma once

#include <popart/graph.hpp>

#include <vector>

namespace popart {

class Unroller {
public:
  Unroller(Graph &graph, Op::Settings settings)
      : graph_(graph), settings_(std::move(settings)) {}

  // What the subgraph returns for these inputs, by the names given.
  std::vector<TensorId> call(const Graph &callee,
                             const std::vector<TensorId> &inputs,
                             const std::vector<TensorId> &outputs = {});
  // Element `index` along `axis`, without that dimension.
  TensorId slice(const TensorId &id, std::int64_t axis, std::int64_t index);
  // The values along a new dimension `axis`.
  void stack(const std::vector<TensorId> &values, std::int64_t axis,
             const TensorId &name);
  void rename(const TensorId &id, const TensorId &name);

private:
  Shape shapeOf(const TensorId &id) const;
  TensorId reshape(const TensorId &id, const Shape &shape);

  Graph &graph_;
  Op::Settings settings_;
};

// ONNX's Scan since 9 in `graph`: as one operation, or written out.
struct ScanNode {
  const Graph &body;
  Attributes attributes;
  std::vector<TensorId> inputs;
  std::vector<TensorId> captured;
  std::vector<TensorId> outputs;
  Op::Settings settings;
};
void addScan(Graph &graph, ScanNode scan, bool isUnrolled);

} // namespace popart
