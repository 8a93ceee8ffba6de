// Matrix products in pieces that run one after another, so that less memory is
// needed at once.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>
#include <ops/Common.hpp>
#include <ops/SerializedMatMul.hpp>

#include <vector>

namespace popart {
namespace {

// A dimension counted from the end of an operand; a vector's only one.
std::int64_t axisOf(const TensorInfo &info, Rank fromEnd) {
  return info.rank() == 1 ? 0 : info.rank() - fromEnd;
}

class MatMulSerializer {
public:
  MatMulSerializer(GraphEditor &editor, Op &op,
                   const MatMulSerialization &serialization)
      : editor_(editor), op_(op), serialization_(serialization),
        size_(dimensionOf()) {
    requireOp(op, serialization.factor > 0 && size_ % serialization.factor == 0,
              "a dimension of {} elements cannot be serialised by a factor of "
              "{}; use one that divides it",
              size_, serialization.factor);
  }

  void run() {
    if (serialization_.factor == 1) {
      return;
    }
    name_ = op_.outputs[0];
    TensorId old = editor_.uniqueName(name_ + "/whole");
    editor_.renameTensor(name_, old);
    isReduced() ? sum() : join();
    editor_.replaceReads(old, name_);
    editor_.erase(op_);
  }

private:
  bool isReduced() const { return serialization_.dim == MatMulDim::Reduced; }
  // The partial sums have more precision than the result.
  bool isWidened() const {
    return serialization_.keepsPrecision &&
           op_.outInfo(0).dataType() == DataType::FLOAT16;
  }

  std::int64_t dimensionOf() const {
    const Shape &a = op_.inShape(0);
    const Shape &b = op_.inShape(1);
    switch (serialization_.dim) {
    case MatMulDim::Rows:
      return a.size() == 1 ? 1 : a[a.size() - 2];
    case MatMulDim::Reduced:
      return a.back();
    case MatMulDim::Columns:
      return b.size() == 1 ? 1 : b.back();
    }
    return 1;
  }

  TensorId add(const std::string &type, const std::vector<TensorId> &inputs,
               const Attributes &attributes, const TensorId &output = {}) {
    return editor_
        .insertBefore(&op_, {"ai.onnx", type, 7}, inputs, {output}, attributes,
                      op_.settings)
        .outputs[0];
  }

  TensorId slice(InIndex input, Rank fromEnd, std::int64_t piece) {
    std::int64_t size = size_ / serialization_.factor;
    return add(
        "Slice", {op_.inId(input)},
        Attributes()
            .set("axes", Attributes::Ints{axisOf(op_.inInfo(input), fromEnd)})
            .set("starts", Attributes::Ints{piece * size})
            .set("ends", Attributes::Ints{(piece + 1) * size}));
  }

  TensorId multiply(std::int64_t piece) {
    Attributes attributes = op_.attributes;
    removeSerialization(attributes);
    if (isReduced() && isWidened()) {
      attributes.set("outputType", std::string("FLOAT"));
    }
    MatMulDim dim = serialization_.dim;
    TensorId a = dim == MatMulDim::Columns
                     ? op_.inId(0)
                     : slice(0, isReduced() ? 1 : 2, piece);
    TensorId b = dim == MatMulDim::Rows ? op_.inId(1)
                                        : slice(1, isReduced() ? 2 : 1, piece);
    return add("MatMul", {a, b}, attributes);
  }

  void sum() {
    TensorId total = multiply(0);
    for (std::int64_t i = 1; i < serialization_.factor; ++i) {
      bool isLast = i == serialization_.factor - 1 && !isWidened();
      total = add("Add", {total, multiply(i)}, {}, isLast ? name_ : TensorId());
    }
    if (isWidened()) {
      add("Cast", {total}, Attributes().set("to", std::string("FLOAT16")),
          name_);
    }
  }

  void join() {
    std::vector<TensorId> pieces;
    for (std::int64_t i = 0; i < serialization_.factor; ++i) {
      pieces.push_back(multiply(i));
    }
    // A vector on the right leaves no columns.
    bool isLast =
        serialization_.dim == MatMulDim::Columns || op_.inRank(1) == 1;
    add("Concat", pieces,
        Attributes().set("axis", axisOf(op_.outInfo(0), isLast ? 1 : 2)),
        name_);
  }

  GraphEditor &editor_;
  Op &op_;
  MatMulSerialization serialization_;
  std::int64_t size_; // of the dimension that is cut
  TensorId name_;     // of the result
};

} // namespace

void serializeMatMuls(PassContext &context) {
  if (!context.ir.sessionOptions.enableSerializedMatmuls) {
    return;
  }
  std::vector<Op *> products;
  for (const auto &op : context.graph.getOps()) {
    if (op->opid.domain == "ai.onnx" && op->opid.type == "MatMul" &&
        serializationOf(op->attributes)) {
      products.push_back(op.get());
    }
  }
  GraphEditor editor(context.graph);
  for (Op *op : products) {
    MatMulSerializer(editor, *op, *serializationOf(op->attributes)).run();
  }
}

} // namespace popart
