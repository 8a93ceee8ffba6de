// Slices of sequences around calls of the subgraph.
#include <onnx/PackedData.hpp>

#include <onnx/Unroll.hpp>
#include <popart/error.hpp>
#include <support/Error.hpp>
#include <support/Shape.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace popart {
namespace {

// All but the first dimension, behind others.
Shape withRows(Shape rows, const Shape &shape, std::size_t from) {
  rows.insert(rows.end(), shape.begin() + static_cast<std::ptrdiff_t>(from),
              shape.end());
  return rows;
}

} // namespace

PackedData::PackedData(Graph &graph, const Attributes &attributes,
                       std::vector<TensorId> inputs, Op::Settings settings)
    : graph_(graph), inputs_(std::move(inputs)), settings_(std::move(settings)),
      longest_(attributes.getInts("maxSequenceLengths", {})),
      resultSize_(attributes.getInt("resultSize", 0)),
      atATime_(attributes.getInt("callbackBatchSize", 0)) {
  support::requireUser<error>(
      !longest_.empty() && inputs_.size() == 3 * longest_.size() + 2,
      "[PackedDataBlock] {} maxSequenceLengths need {} inputs: data, offsets "
      "and lengths of each, offsets and lengths of the result; there are {}",
      longest_.size(), 3 * longest_.size() + 2, inputs_.size());
  sequences_ = infoOf(inputs_.back()).nelms();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    bool isData = i % 3 == 0 && i < 3 * tensors();
    support::requireUser<error>(isData || infoOf(inputs_[i]).shape() ==
                                              Shape{sequences_},
                                "[PackedDataBlock] input {} must have a number "
                                "for each of {} sequences",
                                i, sequences_);
  }
  support::requireUser<error>(
      atATime_ > 0 && sequences_ % atATime_ == 0,
      "[PackedDataBlock] {} sequences cannot be called {} at a time; use a "
      "callbackBatchSize that divides them",
      sequences_, atATime_);
}

const TensorInfo &PackedData::infoOf(const TensorId &id) const {
  return graph_.getTensor(id).info;
}

std::vector<TensorInfo> PackedData::unpackedInfos() const {
  std::vector<TensorInfo> infos;
  for (std::size_t i = 0; i < tensors(); ++i) {
    const TensorInfo &data = infoOf(inputs_[3 * i]);
    infos.emplace_back(data.dataType(),
                       withRows({atATime_, longest_[i]}, data.shape(), 1));
  }
  return infos;
}

TensorId PackedData::addOp(const OperatorIdentifier &opid,
                           const std::vector<TensorId> &inputs,
                           const Attributes &attributes,
                           const TensorId &output) {
  return graph_
      .addOp(opid, inputs, std::vector<TensorId>{output}, attributes, settings_)
      .outputs[0];
}

TensorId PackedData::addZeros(const TensorInfo &info) {
  return addOp({"aspen", "Fill"}, {},
               Attributes()
                   .set("type", static_cast<Attributes::Int>(info.dataType()))
                   .set("shape", info.shape())
                   .set("value", 0.0f));
}

TensorId PackedData::equalOffsets(std::int64_t size) {
  TensorId &id = equalOffsets_[size];
  if (id.empty()) {
    std::vector<std::uint32_t> offsets;
    for (std::int64_t i = 0; i < atATime_; ++i) {
      offsets.push_back(static_cast<std::uint32_t>(i * size));
    }
    id = graph_.addConstant(fmt::format("{}/offsets{}", name_, size),
                            TensorInfo(DataType::UINT32, {atATime_}),
                            offsets.data());
  }
  return id;
}

TensorId PackedData::reshape(const TensorId &id, const Shape &shape) {
  return addOp({"aspen", "Reshape"}, {id}, Attributes().set("shape", shape));
}

TensorId PackedData::numbers(std::size_t i, std::int64_t first) {
  TensorId part = addOp({"ai.onnx", "Slice"}, {inputs_[i]},
                        Attributes()
                            .set("axes", Attributes::Ints{0})
                            .set("starts", Attributes::Ints{first})
                            .set("ends", Attributes::Ints{first + atATime_}));
  return addOp({"ai.onnx", "Cast"}, {part},
               Attributes().set("to", std::string("UINT32")));
}

TensorId PackedData::unpack(std::size_t tensor, std::int64_t first) {
  TensorInfo unpacked = unpackedInfos()[tensor];
  std::int64_t longest = longest_[tensor];
  TensorInfo rows(unpacked.dataType(),
                  withRows({atATime_ * longest}, unpacked.shape(), 2));
  TensorId sequences = addOp(
      {"ai.graphcore", "SequenceSlice"},
      {inputs_[3 * tensor], addZeros(rows), numbers(3 * tensor + 2, first),
       numbers(3 * tensor + 1, first), equalOffsets(longest)},
      {});
  return reshape(sequences, unpacked.shape());
}

TensorId PackedData::pack(const TensorId &part, const TensorId &result,
                          std::int64_t first, const TensorId &output) {
  const Shape &shape = infoOf(part).shape();
  std::int64_t length = shape[1];
  TensorId rows = reshape(part, withRows({atATime_ * length}, shape, 2));
  return addOp({"ai.graphcore", "SequenceSlice"},
               {rows, result, numbers(inputs_.size() - 1, first),
                equalOffsets(length), numbers(inputs_.size() - 2, first)},
               {}, output);
}

void PackedData::add(const Graph &callback,
                     const std::vector<TensorId> &captured,
                     const TensorId &output) {
  name_ = output;
  support::requireUser<error>(callback.getOutputIds().size() == 1,
                              "[PackedDataBlock] the callback has {} outputs; "
                              "it must have one",
                              callback.getOutputIds().size());
  const TensorInfo &part =
      callback.getTensor(callback.getOutputIds().front()).info;
  support::requireUser<error>(
      part.rank() >= 2 && part.shape()[0] == atATime_,
      "[PackedDataBlock] the callback returns shape {}; it must begin with {} "
      "sequences and their rows",
      support::toString(part.shape()), atATime_);
  TensorId result = addZeros(
      TensorInfo(part.dataType(), withRows({resultSize_}, part.shape(), 2)));
  for (std::int64_t i = 0; i < sequences_; i += atATime_) {
    std::vector<TensorId> given;
    for (std::size_t tensor = 0; tensor < tensors(); ++tensor) {
      given.push_back(unpack(tensor, i));
    }
    given.insert(given.end(), captured.begin(), captured.end());
    TensorId called = Unroller(graph_, settings_).call(callback, given)[0];
    bool isLast = i + atATime_ == sequences_;
    result = pack(called, result, i, isLast ? output : TensorId());
  }
}

} // namespace popart
