#include "compiler/ExpandCollective.hpp"

#include <kernels/Expression.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace poplar::compiler {
namespace {

using internal::CollectiveKind;
using internal::CollectiveNode;
using internal::CollectiveOperator;
using internal::ComputeSetId;
using internal::GraphData;
using internal::ProgramNode;
using internal::ProgramPtr;
using internal::SequenceNode;
using internal::TensorView;
using internal::VariableId;
using kernels::ElementwiseOp;
using kernels::Expression;

// Tensors that one operation combines: element-wise kernels take so many
// operands.
constexpr std::size_t tensorsPerOperation = 16;

class CollectiveExpander {
public:
  CollectiveExpander(GraphData &graph, const CollectiveNode &node,
                     const std::string &debugPath,
                     const RuntimeReplicas &runtime, const ReplicaView &viewOf)
      : graph_(graph), node_(node), debugPath_(debugPath), runtime_(runtime),
        viewOf_(viewOf) {}

  ProgramPtr run() {
    if (node_.destination.elements() == 0) {
      return makeNode(SequenceNode{});
    }
    internal::CopyNode copy{emptyLike(node_.source),
                            emptyLike(node_.destination)};
    for (const auto &group : node_.plan.groups) {
      const auto isRun = [&](unsigned replica) {
        return runtime_.has(replica);
      };
      if (std::none_of(group.begin(), group.end(), isRun)) {
        continue;
      }
      prepare(group);
      for (std::size_t member = 0; member < group.size(); ++member) {
        if (!isRun(group[member])) {
          continue;
        }
        for (const TensorView &part : partsFor(member, group)) {
          append(copy.source, part);
        }
        append(copy.destination, viewOf_(node_.destination, group[member]));
      }
    }
    program_.children.push_back(makeNode(std::move(copy)));
    return makeNode(std::move(program_));
  }

private:
  ProgramPtr makeNode(decltype(ProgramNode::op) op) const {
    return std::make_shared<ProgramNode>(
        ProgramNode{std::move(op), debugPath_});
  }

  static TensorView emptyLike(const TensorView &view) {
    return {view.type, {0}, {}};
  }
  static void append(TensorView &to, const TensorView &part) {
    to.shape[0] += part.elements();
    to.pieces.insert(to.pieces.end(), part.pieces.begin(), part.pieces.end());
  }

  // What a group's parts are cut from, one after another in memory: the
  // combination, or a copy of each member's tensor.
  void prepare(const std::vector<unsigned> &group) {
    held_.clear();
    const CollectiveKind kind = node_.plan.kind;
    const bool isReduction = kind == CollectiveKind::AllReduce ||
                             kind == CollectiveKind::ReduceScatter;
    if (isReduction && node_.plan.op != CollectiveOperator::Local) {
      held_.push_back(combine(group));
    } else if (isReduction || kind == CollectiveKind::AllToAll) {
      for (unsigned replica : group) {
        const TensorView own = viewOf_(node_.source, replica);
        held_.push_back(addVariable());
        program_.children.push_back(
            makeNode(internal::CopyNode{own, held_.back()}));
      }
    }
  }

  std::vector<TensorView> partsFor(std::size_t member,
                                   const std::vector<unsigned> &group) const {
    std::vector<TensorView> parts;
    switch (node_.plan.kind) {
    case CollectiveKind::AllReduce:
      return {heldBy(member)};
    case CollectiveKind::ReduceScatter:
      return scatterPart(member, group.size());
    case CollectiveKind::AllGather:
      for (unsigned replica : group) {
        parts.push_back(viewOf_(node_.source, replica));
      }
      return parts;
    case CollectiveKind::AllToAll: {
      const auto size =
          node_.source.elements() / static_cast<std::int64_t>(group.size());
      const auto begin = static_cast<std::int64_t>(member) * size;
      for (const TensorView &held : held_) {
        parts.push_back(slice(held, begin, begin + size));
      }
      return parts;
    }
    case CollectiveKind::Broadcast:
      return {viewOf_(node_.source, group[node_.plan.root])};
    }
    return parts;
  }

  const TensorView &heldBy(std::size_t member) const {
    return held_.size() == 1 ? held_[0] : held_[member];
  }

  // The last parts may be short of elements: zeros fill them up.
  std::vector<TensorView> scatterPart(std::size_t member,
                                      std::size_t members) const {
    const std::int64_t all = node_.source.elements();
    const auto count = static_cast<std::int64_t>(members);
    const std::int64_t size = (all + count - 1) / count;
    const std::int64_t begin =
        std::min(all, static_cast<std::int64_t>(member) * size);
    const std::int64_t end = std::min(all, begin + size);
    std::vector<TensorView> parts{slice(heldBy(member), begin, end)};
    if (end - begin < size) {
      parts.push_back(zeros(size - (end - begin)));
    }
    return parts;
  }

  // Of a whole variable.
  static TensorView slice(const TensorView &whole, std::int64_t begin,
                          std::int64_t end) {
    if (begin == end) {
      return {whole.type, {0}, {}};
    }
    return {whole.type,
            {end - begin},
            {{whole.pieces[0].variable, begin, {end - begin}, {1}}}};
  }

  TensorView zeros(std::int64_t count) const {
    internal::Variable zero;
    zero.type = node_.source.type;
    zero.shape = {1};
    zero.debugPath = debugPath_ + "/zero";
    zero.isConstant = true;
    zero.initialData.resize(support::sizeOf(zero.type));
    const VariableId id(graph_.variables.size());
    graph_.variables.push_back(std::move(zero));
    return {node_.source.type, {count}, {{id, 0, {count}, {0}}}};
  }

  TensorView addVariable() const {
    internal::Variable variable;
    variable.type = node_.source.type;
    variable.shape = {node_.source.elements()};
    variable.debugPath = debugPath_;
    const VariableId id(graph_.variables.size());
    graph_.variables.push_back(std::move(variable));
    const std::int64_t count = node_.source.elements();
    return {node_.source.type, {count}, {{id, 0, {count}, {1}}}};
  }

  // The first operands, then what they gave with the next ones.
  TensorView combine(const std::vector<unsigned> &group) {
    std::vector<TensorView> inputs;
    for (std::size_t member = 0; member < group.size(); ++member) {
      TensorView own = viewOf_(node_.source, group[member]);
      own.shape = {own.elements()};
      inputs.push_back(std::move(own));
      const bool isLast = member + 1 == group.size();
      if (isLast || inputs.size() == tensorsPerOperation) {
        const bool isFirst = member < tensorsPerOperation;
        const TensorView result = addVariable();
        const auto expression =
            expressionOf(inputs.size(), isFirst, isLast, group.size());
        execute(expression, std::move(inputs), result);
        inputs = {result};
      }
    }
    return inputs[0];
  }

  Expression expressionOf(std::size_t inputs, bool isFirst, bool isLast,
                          std::size_t members) const {
    const CollectiveOperator op = node_.plan.op;
    Expression result = Expression::input(0);
    for (std::size_t i = 0; i < inputs; ++i) {
      Expression next = Expression::input(static_cast<unsigned>(i));
      if (op == CollectiveOperator::SquareAdd && (i > 0 || isFirst)) {
        next = Expression::apply(ElementwiseOp::SQUARE, {next});
      }
      result = i == 0
                   ? next
                   : Expression::apply(internal::joiningOp(op), {result, next});
    }
    if (op == CollectiveOperator::Mean && isLast) {
      result = Expression::apply(
          ElementwiseOp::MULTIPLY,
          {result, Expression::constant(1.0 / static_cast<double>(members))});
    }
    return result;
  }

  void execute(const Expression &expression, std::vector<TensorView> inputs,
               const TensorView &output) {
    internal::VertexGroup group;
    group.kind = &kernels::findKind("elementwise");
    group.attributes = expression.toAttributes();
    group.inputs = std::move(inputs);
    group.outputs = {output};
    group.debugPath = debugPath_;
    const ComputeSetId id(graph_.computeSets.size());
    graph_.computeSets.push_back({debugPath_, {}, {}});
    graph_.computeSets.back().groups.push_back(std::move(group));
    program_.children.push_back(makeNode(internal::ExecuteNode{id}));
  }

  GraphData &graph_;
  const CollectiveNode &node_;
  const std::string &debugPath_;
  const RuntimeReplicas &runtime_;
  const ReplicaView &viewOf_;
  SequenceNode program_;
  std::vector<TensorView> held_; // of the group at hand
};

} // namespace

ProgramPtr expandCollective(GraphData &graph, const CollectiveNode &node,
                            const std::string &debugPath,
                            const RuntimeReplicas &runtime,
                            const ReplicaView &viewOf) {
  return CollectiveExpander(graph, node, debugPath, runtime, viewOf).run();
}

} // namespace poplar::compiler
