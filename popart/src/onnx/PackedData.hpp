// PackedDataBlock of ai.graphcore, written out: sequences of different lengths,
// packed one behind the other, go through a subgraph, some of them at a time.
#pragma once

#include <popart/graph.hpp>

#include <map>
#include <vector>

namespace popart {

class PackedData {
public:
  // `inputs`: data, offsets and lengths of each packed tensor, then where
  // sequences of the result begin and how long they are. Throws popart::error
  // for what does not fit together.
  PackedData(Graph &graph, const Attributes &attributes,
             std::vector<TensorId> inputs, Op::Settings settings);

  // What the subgraph is given of each tensor: [sequences, longest, ...].
  std::vector<TensorInfo> unpackedInfos() const;

  // Calls `callback` for all sequences; it reads `captured` too.
  void add(const Graph &callback, const std::vector<TensorId> &captured,
           const TensorId &output);

private:
  std::size_t tensors() const { return longest_.size(); }
  const TensorInfo &infoOf(const TensorId &id) const;

  TensorId addOp(const OperatorIdentifier &opid,
                 const std::vector<TensorId> &inputs,
                 const Attributes &attributes, const TensorId &output = {});
  TensorId addZeros(const TensorInfo &info);
  // Where sequences that have `size` rows each begin.
  TensorId equalOffsets(std::int64_t size);
  TensorId reshape(const TensorId &id, const Shape &shape);
  // Those of input i that belong to the sequences from `first` on.
  TensorId numbers(std::size_t i, std::int64_t first);
  TensorId unpack(std::size_t tensor, std::int64_t first);
  TensorId pack(const TensorId &part, const TensorId &result,
                std::int64_t first, const TensorId &output);

  Graph &graph_;
  std::vector<TensorId> inputs_;
  Op::Settings settings_;
  Attributes::Ints longest_; // rows of a sequence, by packed tensor
  std::int64_t resultSize_;
  std::int64_t sequences_ = 0; // in all
  std::int64_t atATime_;
  TensorId name_; // of the result
  std::map<std::int64_t, TensorId> equalOffsets_;
};

} // namespace popart
