// Walks over a graph, and the search for operations that are connected in a
// given way.
#pragma once

#include <popart/graph.hpp>
#include <popart/op.hpp>
#include <popart/tensor.hpp>

#include <functional>
#include <map>
#include <vector>

namespace popart {
namespace graphutils {

enum class TraversalType { DepthFirst, BreadthFirst };
// Of depth first: a tensor before those behind it, or after.
enum class VisitType { Pre, Post };
enum class TraversalDirection {
  ForwardBackward, // to consumers' outputs, then to producers' inputs
  BackwardForward,
  Forward,
  Backward
};
// Which operations that run a subgraph a walk goes on to at its ends; walks
// stay in their graph, so that it makes no difference.
enum class TraverseCallSites { Current, All };

// Whether to go on behind the tensor.
using TensorVisitor = std::function<bool(Tensor *)>;
// Whether to go from one tensor to the other, over the operation.
using EdgeFilter = std::function<bool(Op *, Tensor *, Tensor *)>;

// Every tensor is visited once.
void traverse(std::vector<Tensor *> tensors, const TensorVisitor &visitor,
              const EdgeFilter &filter, TraversalType traversal,
              VisitType visit, TraversalDirection direction,
              TraverseCallSites callSites = TraverseCallSites::Current);
// In all directions.
void traverseBreadthFirst(std::vector<Tensor *> tensors,
                          const TensorVisitor &visitor);
void traverseDepthFirst(std::vector<Tensor *> tensors,
                        const TensorVisitor &visitor);

// The tensors without a producer that this one is made from.
std::vector<Tensor *> rootTensors(Tensor *tensor);

// For each of them, those of them that it needs first, directly or not.
std::map<Op *, std::vector<Op *>, POpCmp>
getOpsWithBefores(const std::set<Op *, POpCmp> &ops);

using OpPred = std::function<bool(const Op *)>;
using OpPreds = std::vector<OpPred>;

// Predicate `from`'s operation has an output that `to`'s reads, at these
// indices, or at any (-1).
struct Edge {
  Edge(int from, int to, OutIndex out = -1, InIndex in = -1)
      : i(from), j(to), out(out), in(in) {}

  int i;
  int j;
  OutIndex out;
  InIndex in;
};
using Edges = std::vector<Edge>;

// Every way to choose an operation for each predicate, no operation twice, so
// that all edges are there.
std::vector<std::vector<Op *>>
findMatchingOps(Graph &graph, const OpPreds &preds, const Edges &edges);

// Where an operation is between the inputs and the final loss.
enum class OpFinalLossRelation { ToLoss, FromLoss, FromToLoss, None };
std::map<Op *, OpFinalLossRelation, POpCmp>
getOpFinalLossRelations(Graph &graph);

} // namespace graphutils
} // namespace popart
