// One weight whose update is shared out among replicas, with what belongs to
// it: gradient, optimiser state, accumulator and the operations over them.
#pragma once

#include <ir/GraphEditor.hpp>
#include <popart/tensorlocation.hpp>
#include <transforms/Pass.hpp>

#include <map>
#include <set>
#include <vector>

namespace popart {

class UpdateSharder {
public:
  UpdateSharder(PassContext &context, GraphEditor &editor, TensorId weight);

  // Does nothing unless the options want some of this weight's variables
  // sharded.
  void run();

private:
  // How replicas' values become the part that one of them has.
  enum class Combine { Sum, Mean, Local };

  bool findSharded();
  bool isAnchored(const TensorId &variable) const;
  void makePart(const TensorId &variable);
  void findUpdates();
  void gatherForReaders(const TensorId &whole);
  void rebuild(Op &op);
  void rebuildOnParts(Op &op);
  void rebuildReduction(Op &op);
  void copyBack(const TensorId &variable, const TensorId &part);

  bool isSharded(const TensorId &version) const;
  bool isAccumulation(const Op &op) const;
  Combine combinationFor(const Op &accumulation) const;
  TensorId partOf(const TensorId &whole, const Op &reader);
  TensorId scatter(const TensorId &whole, Combine how, const Op &position);
  TensorId gather(const TensorId &part, const Op *position,
                  const Op::Settings &settings);
  TensorId reduce(const TensorId &id, bool isMean, const CommGroup &group,
                  const Op &position);

  const Ir &ir_;
  Graph &graph_;
  GraphEditor &editor_;
  TensorId weight_;
  Shape shape_;                           // of the whole weight
  CommGroup domain_;                      // replicas that share one copy
  std::int64_t partSize_ = 0;             // elements
  std::set<TensorId> sharded_;            // variables
  std::vector<Op *> updates_;             // as they were, in schedule order
  std::set<TensorId> whole_;              // tensors of the weight's shape
  std::map<TensorId, TensorId> part_;     // of such a tensor
  std::map<TensorId, TensorId> variable_; // that a tensor is a version of
  // Of variables that stay whole: the latest whole version and the latest part.
  std::map<TensorId, TensorId> latestWhole_;
  std::map<TensorId, TensorId> latestPart_;
  std::vector<Op *> obsolete_;
};

} // namespace popart
