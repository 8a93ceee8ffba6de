// Recurrent layers with activations that no kind has inside of it: step by
// step, by operators that have gradients of their own.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>
#include <ops/Recurrent.hpp>
#include <popart/ir.hpp>

#include <cstdint>
#include <vector>

namespace popart {
namespace {

// What SoftmaxScaled multiplies its result by, as popnn's does.
constexpr float softmaxScaling = 16384.0f;

// Of ONNX's opset 9 all that is needed here broadcasts and takes axes as
// attributes.
OperatorIdentifier identifier(const std::string &domain,
                              const std::string &type) {
  return {domain, type, domain == "ai.onnx" ? 9 : 1};
}

// One layer on its way into operators, which go before it.
class LayerWriter {
public:
  LayerWriter(Graph &graph, Op &op)
      : graph_(graph), editor_(graph), op_(op),
        layer_(op, op.opid.type == "LSTM" ? 4 : 1),
        activations_(activationsOf(op)) {}

  void run() {
    TensorId driven = inputProducts();
    TensorId recurrent = transposed(2, layer_.hidden);
    State state = {firstState(recurrentH), firstState(recurrentC)};
    TensorId zeros = hasLengths() ? addZeros() : TensorId();
    std::vector<TensorId> outputs;
    for (std::int64_t t = 0; t < layer_.steps; ++t) {
      State next = step(at(driven, t), recurrent, state);
      TensorId output = next.h;
      if (hasLengths()) {
        TensorId isRunning = add("Greater", {lengths(), addCount(t)});
        output = add("Where", {isRunning, next.h, zeros});
        next.h = add("Where", {isRunning, next.h, state.h});
        next.c = layer_.gates == 1 ? next.c
                                   : add("Where", {isRunning, next.c, state.c});
      }
      outputs.push_back(reshape(output, {1, 1, layer_.batch, layer_.hidden}));
      state = next;
    }
    finish(outputs, state);
  }

private:
  struct State {
    TensorId h;
    TensorId c; // of an LSTM's cell
  };

  TensorId add(const std::string &type, const std::vector<TensorId> &inputs,
               const Attributes &attributes = {},
               const std::string &domain = "ai.onnx") {
    return editor_
        .insertBefore(&op_, identifier(domain, type), inputs, {}, attributes,
                      op_.settings)
        .outputs[0];
  }

  TensorId reshape(const TensorId &id, const Shape &shape) {
    return add("Reshape", {id}, Attributes().set("shape", shape), "aspen");
  }

  TensorId slice(const TensorId &id, std::int64_t axis, std::int64_t begin,
                 std::int64_t size) {
    return add("Slice", {id},
               Attributes()
                   .set("axes", Attributes::Ints{axis})
                   .set("starts", Attributes::Ints{begin})
                   .set("ends", Attributes::Ints{begin + size}));
  }

  // One step's share of [steps, batch, n].
  TensorId at(const TensorId &id, std::int64_t t) {
    Shape shape = graph_.getTensor(id).info.shape();
    return reshape(slice(id, 0, t, 1), {shape[1], shape[2]});
  }

  // Weights [1, rows, n] as [n, rows].
  TensorId transposed(InIndex input, std::int64_t n) {
    return add("Transpose",
               {reshape(op_.inId(input), {layer_.gates * layer_.hidden, n})},
               Attributes().set("perm", Attributes::Ints{1, 0}));
  }

  // What the inputs of all steps add to the gates, biases included: [steps,
  // batch, gates * hidden].
  TensorId inputProducts() {
    std::int64_t rows = layer_.gates * layer_.hidden;
    TensorId x =
        reshape(op_.inId(0), {layer_.steps * layer_.batch, layer_.features});
    TensorId sums = add("MatMul", {x, transposed(1, layer_.features)});
    if (op_.hasInput(recurrentB)) {
      const TensorId &biases = op_.inId(recurrentB);
      sums = add("Add", {sums, add("Add", {slice(biases, 1, 0, rows),
                                           slice(biases, 1, rows, rows)})});
    }
    return reshape(sums, {layer_.steps, layer_.batch, rows});
  }

  State step(const TensorId &driven, const TensorId &recurrent,
             const State &state) {
    TensorId sums = add("Add", {driven, add("MatMul", {state.h, recurrent})});
    if (layer_.gates == 1) {
      return {activate(activations_.values, sums), {}};
    }
    // ONNX's order: input, output, forget, candidate.
    std::vector<TensorId> gates;
    for (std::int64_t gate = 0; gate < layer_.gates; ++gate) {
      gates.push_back(
          activate(gate < 3 ? activations_.gates : activations_.values,
                   slice(sums, 1, gate * layer_.hidden, layer_.hidden)));
    }
    TensorId c = add("Add", {add("Mul", {gates[2], state.c}),
                             add("Mul", {gates[0], gates[3]})});
    return {add("Mul", {gates[1], activate(activations_.values, c)}), c};
  }

  // Softmax is over the units of a gate.
  TensorId activate(const std::string &name, const TensorId &id) {
    bool isGraphcores = name == "Gelu" || name == "GeluErf" || name == "Swish";
    if (isGraphcores || name.rfind("Softmax", 0) != 0) {
      return add(name, {id}, {}, isGraphcores ? "ai.graphcore" : "ai.onnx");
    }
    TensorId result =
        add("Softmax", {id}, Attributes().set("axis", Attributes::Int{1}));
    return name == "SoftmaxScaled"
               ? add("Scale", {result},
                     Attributes().set("scale", softmaxScaling), "ai.graphcore")
               : result;
  }

  TensorInfo stateInfo() const {
    return {op_.inInfo(0).dataType(), {layer_.batch, layer_.hidden}};
  }

  TensorId addZeros() {
    TensorInfo info = stateInfo();
    std::vector<char> data(static_cast<std::size_t>(info.nbytes()));
    return graph_.addConstant(editor_.uniqueName("zeros"), info, data.data());
  }

  TensorId firstState(InIndex input) {
    return op_.hasInput(input) ? reshape(op_.inId(input), stateInfo().shape())
                               : addZeros();
  }

  bool hasLengths() const { return op_.hasInput(recurrentLengths); }

  // A column, one row for each sample.
  TensorId lengths() {
    return reshape(op_.inId(recurrentLengths), {layer_.batch, 1});
  }

  TensorId addCount(std::int64_t t) {
    auto count = static_cast<std::int32_t>(t);
    return graph_.addConstant(editor_.uniqueName("step"),
                              TensorInfo(DataType::INT32, {}), &count);
  }

  // Results take the names of the layer's outputs.
  void finish(const std::vector<TensorId> &outputs, const State &state) {
    Shape last = {1, layer_.batch, layer_.hidden};
    replace(0, "ai.onnx", "Concat", outputs,
            Attributes().set("axis", Attributes::Int{0}));
    replace(1, "aspen", "Reshape", {state.h}, Attributes().set("shape", last));
    if (layer_.gates > 1) {
      replace(2, "aspen", "Reshape", {state.c},
              Attributes().set("shape", last));
    }
    editor_.erase(op_);
  }

  void replace(std::size_t output, const std::string &domain,
               const std::string &type, const std::vector<TensorId> &inputs,
               const Attributes &attributes) {
    TensorId name = op_.outputs[output];
    TensorId old = editor_.uniqueName("layer");
    editor_.renameTensor(name, old);
    editor_.insertBefore(&op_, identifier(domain, type), inputs, {name},
                         attributes, op_.settings);
    editor_.replaceReads(old, name);
  }

  Graph &graph_;
  GraphEditor editor_;
  Op &op_;
  RecurrentLayer layer_;
  RecurrentActivations activations_;
};

} // namespace

void writeOutRecurrent(PassContext &context) {
  for (Graph *graph : context.ir.getAllGraphs()) {
    std::vector<Op *> layers;
    for (const auto &op : graph->getOps()) {
      if (op->opid.domain == "ai.onnx" &&
          (op->opid.type == "LSTM" || op->opid.type == "RNN") &&
          !areFused(activationsOf(*op))) {
        layers.push_back(op.get());
      }
    }
    for (Op *op : layers) {
      LayerWriter(*graph, *op).run();
    }
  }
}

} // namespace popart
