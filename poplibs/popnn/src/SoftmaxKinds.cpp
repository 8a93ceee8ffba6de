// Softmax, its logarithm and their gradients as whole kinds: the passes of
// section 7.8.
#include <popnn/internal/Kinds.hpp>

#include <popops/internal/Passes.hpp>
#include <poputil/internal/Emit.hpp>

namespace popnn::internal {

using kernels::Attributes;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Sequence;
using popops::internal::PassList;

namespace {

// All four make one tensor shaped as the first input, mapped as it is where it
// can be.
using Plan = void (*)(PassList &passes, const Tensor &x, std::uint64_t rows);

std::vector<Tensor> emitSoftmax(std::string_view kind, Plan plan, Graph &graph,
                                const Attributes &attributes,
                                const std::vector<Tensor> &inputs,
                                Sequence &program,
                                const DebugContext &debugContext) {
  const auto type =
      poputil::internal::inferOutputs(kind, attributes, inputs).front();
  const auto output = popops::internal::addOutput(graph, {inputs.front()}, type,
                                                  {debugContext, "out"});
  const auto columns =
      type.shape.empty() ? 1 : std::max<std::int64_t>(type.shape.back(), 1);
  const auto rows = output.numElements() / static_cast<std::size_t>(columns);
  PassList passes(graph);
  plan(passes, output, rows);
  poputil::internal::emit(graph, program,
                          {kind, attributes, inputs, {output}, passes.take()},
                          debugContext);
  return {output};
}

void planSoftmax(PassList &passes, const Tensor &x, std::uint64_t rows) {
  passes.reduce("Max", "MAX", x, rows, true);
  passes.elementwise("SubMax", "SUBTRACT", x, true);
  passes.elementwise("Exp", "EXPONENT", x);
  passes.reduce("Sum", "ADD", x, rows, true);
  passes.elementwise("MulInverse", "MULTIPLY", x, true);
}

void planLogSoftmax(PassList &passes, const Tensor &x, std::uint64_t rows) {
  passes.reduce("Max", "MAX", x, rows, true);
  passes.elementwise("SubMax", "SUBTRACT", x, true);
  passes.elementwise("Exp", "EXPONENT", x);
  passes.reduce("Sum", "ADD", x, rows, true);
  passes.elementwise("SubLogSum", "SUBTRACT", x, true);
}

void planSoftmaxGrad(PassList &passes, const Tensor &x, std::uint64_t rows) {
  passes.elementwise("GradTimesOut", "MULTIPLY", x);
  passes.reduce("Sum", "ADD", x, rows, true);
  passes.elementwise("SubSum", "SUBTRACT", x, true);
  passes.elementwise("MulOut", "MULTIPLY", x);
}

void planLogSoftmaxGrad(PassList &passes, const Tensor &x, std::uint64_t rows) {
  passes.reduce("Sum", "ADD", x, rows, true);
  passes.elementwise("Exp", "EXPONENT", x);
  passes.elementwise("MulSum", "MULTIPLY", x, true);
  passes.elementwise("Sub", "SUBTRACT", x);
}

} // namespace

#define POPNN_SOFTMAX_KIND(function, plan)                                     \
  std::vector<Tensor> function(                                                \
      Graph &graph, const Attributes &attributes,                              \
      const std::vector<Tensor> &inputs, Sequence &program,                    \
      const DebugContext &debugContext, const poplar::OptionFlags &) {         \
    return emitSoftmax(#function, plan, graph, attributes, inputs, program,    \
                       debugContext);                                          \
  }
POPNN_SOFTMAX_KIND(softmax, planSoftmax)
POPNN_SOFTMAX_KIND(softmaxGrad, planSoftmaxGrad)
POPNN_SOFTMAX_KIND(logSoftmax, planLogSoftmax)
POPNN_SOFTMAX_KIND(logSoftmaxGrad, planLogSoftmaxGrad)
#undef POPNN_SOFTMAX_KIND

} // namespace popnn::internal
