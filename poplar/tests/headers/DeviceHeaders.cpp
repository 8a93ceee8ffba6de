// Compiled as C++11: a host program may include what codelets are written with,
// beside its own headers.
#include <ipu_builtins.h>
#include <ipu_memory_intrinsics>
#include <ipu_vector_math>
#include <ipudef.h>
#include <poplar/AvailableVTypes.h>
#include <poplar/Engine.hpp>
#include <poplar/HalfFloat.hpp>
#include <poplar/QuarterFloat.hpp>
#include <poplar/StackSizeDefs.hpp>
#include <poplar/TileConstants.hpp>
#include <poplar/Vertex.hpp>
#include <print.h>

using namespace poplar;
using namespace poplar::program;

static_assert(MultiVertex::numWorkers() == CTXT_WORKERS, "six");
static_assert(sizeof(half) == 2, "two bytes");
static_assert(sizeof(quarter) == 1, "one byte");
static_assert(sizeof(Input<Vector<float>>) == 16, "a pointer and a count");
static_assert(sizeof(InOut<half>) == sizeof(void *), "a pointer");

struct Scale : Vertex {
  Input<Vector<half>> in;
  Vector<Output<Vector<float>>> out;
  Input<VectorList<float, VectorListLayout::DELTAN>> list;
  InOut<half> sum;
  bool compute() {
    for (const half &value : in) {
      sum += value * list[0][0];
      out[0][0] = value + 1;
    }
    return sum < half(3) || -sum > 2.0f * sum;
  }
};

float useQuarter(quarter value) {
  const QuarterMetadata metadata(QuarterMetadata::Format::F152, 1);
  return toFloat(toQuarter(toFloat(value, metadata), metadata), metadata);
}

float use(Scale &vertex, Graph &graph) {
  DEF_STACK_USAGE(16, use);
  Tensor t = graph.addVariable(HALF, {2});
  vertex.compute();
  half h = vertex.sum;
  h += 1;
  float wide = vertex.sum;
  return h * wide + std::numeric_limits<half>::max();
}
