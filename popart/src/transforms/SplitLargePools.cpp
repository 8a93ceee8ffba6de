// Max pooling over more elements than a winner's place in its window, a byte,
// can number: a maximum of maxima, dimension by dimension. Of equal elements
// the first still wins, so gradients go where they went.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>
#include <ops/MaxPool.hpp>
#include <ops/Window.hpp>
#include <popart/ir.hpp>
#include <support/Shape.hpp>

#include <limits>
#include <vector>

namespace popart {
namespace {

// About how long the parts of a window along one dimension are.
constexpr std::int64_t partSize = 200;

class PoolSplitter {
public:
  PoolSplitter(Graph &graph, Op &op)
      : editor_(graph), op_(op),
        window_(windowOf(op, fieldOf(op.inShape(0)),
                         op.attributes.getInts("kernel_shape", {}))) {}

  void run() {
    TensorId result = op_.inId(0);
    for (std::size_t d = 0; d < window_.kernel.size(); ++d) {
      result = poolAlong(d, result);
    }
    editor_.replaceReads(op_.outputs[0], result);
    TensorId name = op_.outputs[0];
    editor_.renameTensor(name, editor_.uniqueName(name + "/whole"));
    editor_.erase(op_);
    editor_.renameTensor(result, name);
  }

private:
  TensorId add(const std::string &type, const TensorId &input,
               const Attributes &attributes) {
    return editor_
        .insertBefore(&op_, {"ai.onnx", type, 10}, {input}, {}, attributes,
                      op_.settings)
        .outputs[0];
  }

  // Numbers for all dimensions of the field, of which only one is special.
  Attributes::Ints onlyAt(std::size_t d, std::int64_t value,
                          std::int64_t other) const {
    Attributes::Ints values(window_.kernel.size(), other);
    values[d] = value;
    return values;
  }

  TensorId pool(const TensorId &input, std::size_t d, std::int64_t kernel,
                std::int64_t stride, std::int64_t dilation) {
    return add("MaxPool", input,
               Attributes()
                   .set("kernel_shape", onlyAt(d, kernel, 1))
                   .set("strides", onlyAt(d, stride, 1))
                   .set("dilations", onlyAt(d, dilation, 1)));
  }

  // Parts of a window may lie in the padding alone, so it must be real.
  TensorId padAlong(std::size_t d, const TensorId &input) {
    Attributes::Ints pads = onlyAt(d, window_.padLower[d], 0);
    Attributes::Ints upper = onlyAt(d, window_.padUpper[d], 0);
    pads.insert(pads.begin(), 2, 0); // samples and channels
    pads.insert(pads.end(), 2, 0);
    pads.insert(pads.end(), upper.begin(), upper.end());
    return add("Pad", input,
               Attributes()
                   .set("pads", pads)
                   .set("value", -std::numeric_limits<float>::infinity()));
  }

  TensorId poolAlong(std::size_t d, TensorId input) {
    if (window_.padLower[d] + window_.padUpper[d] > 0) {
      input = padAlong(d, input);
    }
    std::int64_t size = window_.kernel[d];
    std::int64_t stride = window_.strides[d];
    std::int64_t dilation = window_.dilations[d];
    if (size <= mostPooledElements) {
      return pool(input, d, size, stride, dilation);
    }
    // Parts of all windows, everywhere; and of those the ones that a window
    // has, which may overlap.
    std::int64_t parts = size / partSize + 1;
    std::int64_t distance = size / parts;
    TensorId maxima =
        pool(input, d, size - (parts - 1) * distance, 1, dilation);
    return pool(maxima, d, parts, stride, distance * dilation);
  }

  GraphEditor editor_;
  Op &op_;
  Window window_;
};

std::vector<Op *> findLargePools(const Graph &graph) {
  std::vector<Op *> pools;
  for (const auto &op : graph.getOps()) {
    if (op->opid.domain == "ai.onnx" && op->opid.type == "MaxPool" &&
        support::elementCount(op->attributes.getInts("kernel_shape", {})) >
            mostPooledElements) {
      pools.push_back(op.get());
    }
  }
  return pools;
}

} // namespace

void splitLargePools(PassContext &context) {
  for (Graph *graph : context.ir.getAllGraphs()) {
    // Parts may have to be split again.
    for (auto pools = findLargePools(*graph); !pools.empty();
         pools = findLargePools(*graph)) {
      for (Op *op : pools) {
        PoolSplitter(*graph, *op).run();
      }
    }
  }
}

} // namespace popart
