// LSTM and GRU layers as whole kinds: the products and passes of section 7.12.
// The steps of a loop have the same phases, so each is there once, with all
// steps' cycles and bytes.
#include <popnn/internal/Kinds.hpp>

#include <kernels/cost/NeuralNet.hpp>
#include <poplar/internal/Access.hpp>
#include <poplin/internal/ConvOptions.hpp>
#include <poplin/internal/ConvPhases.hpp>
#include <popops/internal/Passes.hpp>
#include <poputil/internal/Emit.hpp>

namespace popnn::internal {

using kernels::Attributes;
using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::internal::GroupPhase;
using poplar::program::Sequence;
using popops::internal::PassList;

namespace {

std::vector<GroupPhase> repeated(std::vector<GroupPhase> phases,
                                 std::size_t times) {
  for (auto &phase : phases) {
    for (auto &run : phase.runs) {
      run.bytesIn *= times;
      run.bytesOut *= times;
      for (auto &vertex : run.vertices) {
        vertex.cycles *= times;
        vertex.flops *= times;
      }
    }
  }
  return phases;
}

// A call of one of the kinds, whose phases are added one by one.
class LayerCall {
public:
  LayerCall(Graph &graph, std::string_view kind, const Attributes &attributes,
            const std::vector<Tensor> &inputs, const DebugContext &debugContext,
            const OptionFlags &options)
      : graph_(graph), kind_(kind), attributes_(attributes), inputs_(inputs),
        tiles_(poputil::internal::tilesOf(graph, inputs.front())),
        outputs_(poputil::internal::addOutputs(graph, kind, attributes, inputs,
                                               tiles_, debugContext)) {
    OptionFlags forMatMul;
    for (const auto &[name, value] : options) {
      if (name == "preCalcWeights") {
        preCalculates_ = value == "true";
      } else if (name == "partialsType" ||
                 name == "availableMemoryProportion") {
        forMatMul.set(name, value);
      }
    }
    matMulOptions_ = poplin::internal::parseMatMulOptions(forMatMul);
  }

  bool preCalculates() const { return preCalculates_; }
  const std::vector<Tensor> &outputs() const { return outputs_; }

  // [m,k] x [k,n], `times` times.
  void product(const std::string &name, std::size_t m, std::size_t k,
               std::size_t n, const Tensor &left, const Tensor &right,
               std::size_t times = 1) {
    if (m * k * n == 0) {
      return;
    }
    const auto type = left.elementType();
    const auto problem = poplin::internal::matMulProblem(
        type, type, {m, k}, {k, n}, matMulOptions_);
    const auto limits =
        poplin::internal::planLimits(graph_, tiles_, matMulOptions_);
    const auto plan =
        poplin::internal::cachedPlan(graph_, problem, limits, true);
    poplin::internal::ConvOperand a{left}, b{right};
    if (plan.swapsOperands) {
      std::swap(a, b);
    }
    append(poplin::internal::convPhases(graph_, name, problem, plan, limits,
                                        tiles_, a, b),
           times);
  }

  // Element-wise passes over one step's state, in every step.
  template <typename Add> void passes(std::size_t times, const Add &add) {
    PassList list(graph_);
    add(list);
    append(list.take(), times);
  }

  std::vector<Tensor> emit(Sequence &program,
                           const DebugContext &debugContext) {
    poputil::internal::emit(
        graph_, program,
        {kind_, attributes_, inputs_, outputs_, std::move(phases_)},
        debugContext);
    return outputs_;
  }

private:
  void append(std::vector<GroupPhase> phases, std::size_t times) {
    for (auto &phase : repeated(std::move(phases), times)) {
      phases_.push_back(std::move(phase));
    }
  }

  Graph &graph_;
  std::string_view kind_;
  const Attributes &attributes_;
  const std::vector<Tensor> &inputs_;
  poputil::internal::TileRange tiles_;
  std::vector<Tensor> outputs_;
  poplin::internal::ConvOptions matMulOptions_;
  bool preCalculates_ = false;
  std::vector<GroupPhase> phases_;
};

// One vertex of a cell: `gates` non-linearities and the rest of the formula.
void addCell(PassList &passes, const char *name, const char *vertex,
             std::size_t gates, bool isGradient, const Tensor &state) {
  const auto type = poplar::internal::tensorView(state).type;
  passes.pass(name, {}, state,
              [=](const kernels::cost::TileSpec &tile, std::uint64_t n) {
                return poputil::internal::supervisorVertex(
                    poputil::internal::vertexName(vertex, {type}),
                    isGradient ? gates * kernels::cost::nonLinearityGrad1D(
                                             tile, "SIGMOID", type, n)
                               : gates * kernels::cost::nonLinearity1D(
                                             tile, "SIGMOID", type, n),
                    static_cast<std::uint32_t>(2 * gates), 4 * gates * n);
              });
}

struct Cell {
  std::size_t gates;
  std::size_t weights; // the input that has the input weights
  const char *vertex;
  const char *gradientVertex;
};
constexpr Cell lstmCell{4, 3, "popnn::BasicLstmCell", "popnn::LstmCellGrad"};
constexpr Cell gruCell{3, 2, "popnn::BasicGruCell", "popnn::GruCellGrad"};

std::vector<Tensor> forward(std::string_view kind, const Cell &cell,
                            Graph &graph, const Attributes &attributes,
                            const std::vector<Tensor> &inputs,
                            Sequence &program, const DebugContext &debugContext,
                            const OptionFlags &options) {
  LayerCall call(graph, kind, attributes, inputs, debugContext, options);
  const auto &x = inputs[0];
  const auto steps = x.dim(0), batch = x.dim(1), in = x.dim(2),
             out = inputs[1].dim(1);
  const auto &wIn = inputs[cell.weights];
  const auto &wOut = inputs[cell.weights + 1];
  if (call.preCalculates()) {
    call.product("Weigh/Input", steps * batch, in, cell.gates * out, x, wIn);
    call.product("Weigh/State", batch, out, cell.gates * out, inputs[1], wOut,
                 steps);
  } else {
    call.product("Weigh", batch, in + out, cell.gates * out, x, wIn, steps);
  }
  call.passes(steps, [&](PassList &passes) {
    addCell(passes, "Cell", cell.vertex, cell.gates + 1, false,
            call.outputs()[1]);
  });
  return call.emit(program, debugContext);
}

std::vector<Tensor> backward(std::string_view kind, const Cell &cell,
                             Graph &graph, const Attributes &attributes,
                             const std::vector<Tensor> &inputs,
                             Sequence &program,
                             const DebugContext &debugContext,
                             const OptionFlags &options) {
  LayerCall call(graph, kind, attributes, inputs, debugContext, options);
  const auto &saved = inputs[0];
  const auto &wIn = inputs[1];
  const auto steps = saved.dim(0), batch = saved.dim(1), out = saved.dim(3),
             in = wIn.dim(1);
  const auto dGates = call.outputs()[0].slice(0, cell.gates, 2);
  call.passes(steps, [&](PassList &passes) {
    addCell(passes, "CellGrad", cell.gradientVertex, cell.gates + 1, true,
            call.outputs()[1]);
  });
  call.product("Weigh/StateGrad", batch, cell.gates * out, out, dGates,
               inputs[2], steps);
  if (attributes.getInt("inputGrad") != 0) {
    call.product("Weigh/InputGrad", steps * batch, cell.gates * out, in, dGates,
                 wIn);
  }
  return call.emit(program, debugContext);
}

std::vector<Tensor> weights(std::string_view kind, const Cell &cell,
                            Graph &graph, const Attributes &attributes,
                            const std::vector<Tensor> &inputs,
                            Sequence &program, const DebugContext &debugContext,
                            const OptionFlags &options) {
  LayerCall call(graph, kind, attributes, inputs, debugContext, options);
  const auto &x = inputs[0];
  const auto rows = x.dim(0) * x.dim(1), in = x.dim(2), out = inputs[1].dim(3);
  const auto dGates = inputs.back().slice(0, cell.gates, 2);
  call.product("WeightDeltas/Input", in, rows, cell.gates * out, x, dGates);
  call.product("WeightDeltas/State", out, rows, cell.gates * out, inputs[1],
               dGates);
  call.passes(1, [&](PassList &passes) {
    passes.reduce("BiasDeltas", "ADD", dGates, call.outputs()[2].numElements(),
                  false);
  });
  return call.emit(program, debugContext);
}

} // namespace

#define POPNN_RECURRENT_KIND(function, pass, cell)                             \
  std::vector<Tensor> function(                                                \
      Graph &graph, const Attributes &attributes,                              \
      const std::vector<Tensor> &inputs, Sequence &program,                    \
      const DebugContext &debugContext, const OptionFlags &options) {          \
    return pass(#function, cell, graph, attributes, inputs, program,           \
                debugContext, options);                                        \
  }
POPNN_RECURRENT_KIND(lstm, forward, lstmCell)
POPNN_RECURRENT_KIND(lstmGrad, backward, lstmCell)
POPNN_RECURRENT_KIND(lstmWeightGrad, weights, lstmCell)
POPNN_RECURRENT_KIND(gru, forward, gruCell)
POPNN_RECURRENT_KIND(gruGrad, backward, gruCell)
POPNN_RECURRENT_KIND(gruWeightGrad, weights, gruCell)
#undef POPNN_RECURRENT_KIND

} // namespace popnn::internal
