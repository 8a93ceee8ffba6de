// An operation is folded by a program of its own: its rule's lowering, run once
// on the host, so that there is one definition of its values.
#include <lowering/FoldConstants.hpp>

#include <lowering/HostTensors.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>
#include <popart/ir.hpp>
#include <transforms/Passes.hpp>

#include <poplar/Device.hpp>
#include <poplar/Engine.hpp>
#include <poplar/Target.hpp>

#include <algorithm>
#include <set>
#include <string>

namespace popart {
namespace {

// Of a result that is worth keeping, and of one that may be a shape.
constexpr std::int64_t mostElements = 1 << 16;
constexpr std::int64_t mostElementsOfShape = 64;

// What PopART documents, and what exporters make shapes of.
bool isFolded(const std::string &type) {
  static const std::set<std::string> types = {
      "Add",        "And",     "Cast",
      "Ceil",       "Concat",  "ConstantOfShape",
      "Detach",     "Div",     "Equal",
      "Expand",     "Flatten", "Floor",
      "Fmod",       "Gather",  "Greater",
      "Identity",   "Less",    "Max",
      "Min",        "Mod",     "Mul",
      "Neg",        "Not",     "Or",
      "ReduceProd", "Reshape", "Scale",
      "Shape",      "Size",    "Slice",
      "Squeeze",    "Sub",     "Transpose",
      "Unsqueeze",  "Where"};
  return types.count(type) > 0;
}

// Its result depends on the shape of its input alone.
bool readsShapesOnly(const Op &op) {
  return op.opid.type == "Shape" || op.opid.type == "Size";
}

bool isConstant(const Op &op, std::int64_t most) {
  const Graph &graph = op.getGraph();
  bool isKnown =
      op.opid.domain == "ai.onnx" || op.opid.domain == "ai.graphcore";
  if (!isKnown || !isFolded(op.opid.type) || op.inputs.empty()) {
    return false;
  }
  bool hasConstantInputs =
      std::all_of(op.inputs.begin(), op.inputs.end(), [&](const TensorId &id) {
        return id.empty() || graph.getTensor(id).type == TensorType::Const;
      });
  bool hasSmallOutputs = std::all_of(
      op.outputs.begin(), op.outputs.end(), [&](const TensorId &id) {
        return graph.getTensor(id).info.nelms() <= most;
      });
  return (hasConstantInputs || readsShapesOnly(op)) && hasSmallOutputs;
}

// The bytes of each output, as the host has them.
std::vector<std::vector<char>> evaluate(const Op &op) {
  const Graph &graph = op.getGraph();
  poplar::Device device = poplar::Device::createCPUDevice();
  poplar::Graph target(device.getTarget());
  SessionOptions options;
  LoweringContext context(target, options);
  for (const TensorId &id : op.inputs) {
    // Of others only the shapes are read.
    if (!id.empty() && graph.getTensor(id).type == TensorType::Const) {
      addConstant(context, graph.getTensor(id), unusedVGraphId);
    }
  }
  poplar::program::Sequence program;
  context.lower(op, program);
  for (const TensorId &id : op.outputs) {
    target.createHostRead(id, context.tensor(id));
  }
  poplar::Engine engine(target, program);
  engine.load(device);
  engine.run(0);
  std::vector<std::vector<char>> results;
  for (const TensorId &id : op.outputs) {
    const TensorInfo &info = graph.getTensor(id).info;
    std::vector<char> bytes(deviceBytes(info));
    if (!bytes.empty()) {
      engine.readTensor(id, bytes.data(), bytes.data() + bytes.size());
    }
    results.push_back(toHostBytes(info, bytes));
  }
  return results;
}

bool fold(Op &op, std::int64_t most) {
  if (!isConstant(op, most)) {
    return false;
  }
  Graph &graph = op.getGraph();
  std::vector<std::vector<char>> results = evaluate(op);
  for (std::size_t i = 0; i < results.size(); ++i) {
    Tensor &tensor = graph.getTensor(op.outputs[i]);
    tensor.type = TensorType::Const;
    tensor.data = std::move(results[i]);
  }
  op.disconnectAllOutputs();
  graph.eraseOp(op.id);
  return true;
}

} // namespace

bool foldConstant(Op &op) {
  return fold(op, mostElements);
}

void foldSmallConstant(Op &op) {
  fold(op, mostElementsOfShape);
}

void foldConstants(PassContext &context) {
  const Ir &ir = context.ir;
  std::vector<Op *> ops;
  for (const auto &op : context.graph.getOps()) {
    ops.push_back(op.get());
  }
  auto hasOtherReaders = [&](const TensorId &id) {
    return !id.empty() && context.graph.getTensor(id).consumers.size() > 1;
  };
  for (Op *op : ops) {
    bool isAnchored =
        std::any_of(op->outputs.begin(), op->outputs.end(),
                    [&](const TensorId &id) { return isAskedFor(ir, id); });
    bool isShared =
        !ir.sessionOptions.enableConstantFoldingOfMultipleConsumers &&
        std::any_of(op->inputs.begin(), op->inputs.end(), hasOtherReaders);
    if (!isAnchored && !isShared) {
      foldConstant(*op);
    }
  }
}

} // namespace popart
