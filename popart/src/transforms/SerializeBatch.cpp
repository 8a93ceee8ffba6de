// Batch serialisation: runs of operations that treat samples one by one run for
// a part of the batch at a time, so that less of it is there at once.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>
#include <popart/error.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <tuple>

namespace popart {
namespace {

// Of those, what one sample gives depends on no other sample: element-wise
// operations, and products, windows and softmax by the rest of their inputs.
bool isRowWise(const Op &op) {
  constexpr std::array<std::string_view, 30> types = {
      "Abs",           "Add",         "AveragePool", "Cast",
      "Clip",          "Conv",        "Div",         "Elu",
      "Erf",           "Exp",         "Gelu",        "GlobalAveragePool",
      "GlobalMaxPool", "HardSigmoid", "Identity",    "LeakyRelu",
      "Log",           "LogSoftmax",  "MatMul",      "MaxPool",
      "Mul",           "Neg",         "Relu",        "Selu",
      "Sigmoid",       "Softmax",     "Softplus",    "Sqrt",
      "Sub",           "Tanh"};
  return std::find(types.begin(), types.end(), op.opid.type) != types.end();
}

bool isSoftmax(const Op &op) {
  return op.opid.type == "Softmax" || op.opid.type == "LogSoftmax";
}

class BatchSerializer {
public:
  explicit BatchSerializer(PassContext &context)
      : ir_(context.ir), graph_(context.graph), editor_(context.graph),
        settings_(context.ir.sessionOptions.batchSerializationSettings) {}

  void run() {
    findBatch();
    std::vector<Op *> ops;
    for (const auto &op : graph_.getOps()) {
      ops.push_back(op.get());
    }
    for (Op *op : ops) {
      if (!isSeparable(*op) ||
          (!run_.empty() && placeOf(*op) != placeOf(*run_.front()))) {
        serialize();
      }
      if (isSeparable(*op)) {
        run_.push_back(op);
        batched_.insert(op->outputs.begin(), op->outputs.end());
      }
    }
    serialize();
    for (Op *op : joins_) {
      const Tensor &whole = graph_.getTensor(op->outputs[0]);
      if (whole.consumers.empty() && !ir_.dataFlow.isAnchored(whole.id)) {
        editor_.erase(*op);
      }
    }
  }

private:
  // Where a batch has to be whole again when it changes.
  using Place = std::tuple<VGraphId, ExecutionPhase, PipelineStage>;

  Place placeOf(const Op &op) const {
    const Op::Settings &at = op.settings;
    return {settings_.concatOnVirtualGraphChange ? at.vgraphId : 0,
            settings_.concatOnExecutionPhaseChange ? at.executionPhase : 0,
            settings_.concatOnPipelineStageChange ? at.pipelineStage : 0};
  }

  // The first dimension of the inputs.
  void findBatch() {
    for (const TensorId &id : graph_.getTensorIds()) {
      const Tensor &tensor = graph_.getTensor(id);
      if (tensor.type == TensorType::Stream && tensor.info.rank() > 0) {
        batch_ = std::max(batch_, tensor.info.shape()[0]);
      }
    }
    support::requireUser<error>(
        batch_ % settings_.factor == 0,
        "batchSerializationSettings.factor ({}) does not divide the batch ({})",
        settings_.factor, batch_);
    for (const TensorId &id : graph_.getTensorIds()) {
      const Tensor &tensor = graph_.getTensor(id);
      if (tensor.type == TensorType::Stream && hasBatch(tensor)) {
        batched_.insert(id);
      }
    }
  }

  bool hasBatch(const Tensor &tensor) const {
    return tensor.info.rank() > 0 && tensor.info.shape()[0] == batch_;
  }

  bool isSeparable(const Op &op) const {
    if (!isRowWise(op) || batched_.count(op.inputs[0]) == 0 ||
        op.settings.executionContext != ExecutionContext::Normal) {
      return false;
    }
    Rank rank = op.inInfo(0).rank();
    if (isSoftmax(op)) {
      std::int64_t axis = op.attributes.getInt("axis", -1);
      if (axis == 0 || axis == -rank) {
        return false;
      }
    }
    if (op.opid.type == "MatMul" && rank < 2) {
      return false;
    }
    // The others have batches, too, or the same for all samples.
    for (std::size_t i = 1; i < op.inputs.size(); ++i) {
      if (op.inputs[i].empty()) {
        continue;
      }
      const Tensor &other = graph_.getTensor(op.inputs[i]);
      bool isBatched = batched_.count(other.id) > 0;
      bool isAligned =
          other.info.rank() == rank && (op.opid.type != "MatMul" || rank > 2);
      bool isCommon = op.opid.type == "Conv" || other.info.rank() < rank ||
                      (op.opid.type == "MatMul" && rank == 2) ||
                      other.info.shape()[0] == 1;
      if (isBatched ? !isAligned : !isCommon) {
        return false;
      }
    }
    return std::all_of(
        op.outputs.begin(), op.outputs.end(),
        [&](const TensorId &id) { return hasBatch(graph_.getTensor(id)); });
  }

  // The run so far, for one part of the batch after another.
  void serialize() {
    if (run_.empty()) {
      return;
    }
    Place place = placeOf(*run_.front());
    for (int part = 0; part < settings_.factor; ++part) {
      for (const Op *op : run_) {
        std::vector<TensorId> inputs;
        for (const TensorId &id : op->inputs) {
          inputs.push_back(batched_.count(id) > 0 ? partOf(id, part, *op) : id);
        }
        const Op &copy = editor_.insertBefore(run_.front(), op->opid, inputs,
                                              {}, op->attributes, op->settings);
        for (std::size_t i = 0; i < op->outputs.size(); ++i) {
          parts_[{op->outputs[i], place}].push_back(copy.outputs[i]);
        }
      }
    }
    join(place);
    run_.clear();
  }

  TensorId partOf(const TensorId &id, int part, const Op &reader) {
    std::vector<TensorId> &parts = parts_[{id, placeOf(reader)}];
    std::int64_t size = batch_ / settings_.factor;
    auto index = static_cast<std::size_t>(part);
    // Of what is not made in parts: cut as the parts ask for it.
    while (parts.size() <= index) {
      auto begin = static_cast<std::int64_t>(parts.size()) * size;
      parts.push_back(
          editor_
              .insertBefore(run_.front(), {"ai.onnx", "Slice", 1}, {id}, {},
                            Attributes()
                                .set("starts", Attributes::Ints{begin})
                                .set("ends", Attributes::Ints{begin + size})
                                .set("axes", Attributes::Ints{0}),
                            reader.settings)
              .outputs[0]);
    }
    return parts[index];
  }

  // Others read the parts' results together, under the names they had.
  void join(const Place &place) {
    std::vector<std::pair<TensorId, TensorId>> renamed;
    for (const Op *op : run_) {
      for (const TensorId &id : std::vector<TensorId>(op->outputs)) {
        TensorId old = id + "/whole";
        editor_.renameTensor(id, old);
        Op &whole = editor_.insertBefore(
            run_.front(), {"ai.onnx", "Concat"}, parts_.at({id, place}), {id},
            Attributes().set("axis", Attributes::Int{0}), op->settings);
        joins_.push_back(&whole);
        renamed.emplace_back(old, id);
      }
    }
    std::set<const Op *> inside(run_.begin(), run_.end());
    for (const auto &[old, id] : renamed) {
      std::vector<Op *> readers = graph_.getTensor(old).consumers;
      for (Op *reader : readers) {
        if (inside.count(reader) == 0) {
          editor_.replaceReads(*reader, old, id);
        }
      }
    }
    for (auto op = run_.rbegin(); op != run_.rend(); ++op) {
      editor_.erase(**op);
    }
  }

  const Ir &ir_;
  Graph &graph_;
  GraphEditor editor_;
  const BatchSerializationSettings &settings_;
  std::int64_t batch_ = 1;
  std::set<TensorId> batched_; // tensors whose rows are samples
  std::vector<Op *> run_;
  std::map<std::pair<TensorId, Place>, std::vector<TensorId>> parts_;
  std::vector<Op *> joins_;
};

} // namespace

void serializeBatch(PassContext &context) {
  if (context.ir.sessionOptions.batchSerializationSettings.factor > 1) {
    BatchSerializer(context).run();
  }
}

} // namespace popart
