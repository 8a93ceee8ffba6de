// Collectives between the IPUs of one replica: a clockwise ring of copies and
// additions. Each part starts on the IPU after its own and comes home combined.
#include <gcl/Collectives.hpp>

#include "Plan.hpp"

#include <popops/internal/Kinds.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>

namespace gcl {

using kernels::ElementwiseOp;
using kernels::Expression;
using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::internal::joiningOp;
using poplar::program::Copy;
using poplar::program::Sequence;
using poputil::poplibs_error;
using support::requireUser;
using Operator = poplar::internal::CollectiveOperator;

namespace {

// One part on its way round: `value` lies on one IPU.
class Ring {
public:
  Ring(Graph &graph, const Tensor &rows, Operator op, Sequence &prog,
       const DebugContext &debugContext)
      : graph_(graph), rows_(rows), op_(op), prog_(prog),
        debugContext_(debugContext) {}

  // Elements [begin, end) of all rows, combined, on the IPU of row `home`.
  Tensor reduce(unsigned home, std::size_t begin, std::size_t end) const {
    const auto ipus = static_cast<unsigned>(rows_.dim(0));
    const auto own = [&](unsigned ipu) { return rows_[ipu].slice(begin, end); };
    if (op_ == Operator::Local) {
      return copyOf(own(home), own(home));
    }
    Tensor value = squared(own((home + 1) % ipus));
    for (unsigned step = 2; step <= ipus; ++step) {
      const Tensor there = own((home + step) % ipus);
      const Tensor arrived = copyOf(value, there);
      value = apply(joiningOp(op_), {squared(there), arrived});
    }
    if (op_ == Operator::Mean) {
      const auto mean = Expression::apply(
          ElementwiseOp::MULTIPLY,
          {Expression::input(0), Expression::constant(1.0 / ipus)});
      value = popops::internal::elementwise(graph_, mean, {value}, prog_,
                                            {debugContext_, "Mean"});
    }
    return value;
  }

  // A copy that lies as `like` does.
  Tensor copyOf(const Tensor &value, const Tensor &like) const {
    const Tensor copy = graph_.clone(like, {debugContext_, "arrived"});
    prog_.add(Copy(value, copy, false, {debugContext_, "Exchange"}));
    return copy;
  }

private:
  Tensor squared(const Tensor &value) const {
    return op_ == Operator::SquareAdd ? apply(ElementwiseOp::SQUARE, {value})
                                      : value;
  }

  Tensor apply(ElementwiseOp op, const std::vector<Tensor> &operands) const {
    std::vector<Expression> inputs;
    for (unsigned i = 0; i < operands.size(); ++i) {
      inputs.push_back(Expression::input(i));
    }
    return popops::internal::elementwise(graph_, Expression::apply(op, inputs),
                                         operands, prog_,
                                         {debugContext_, "Reduce"});
  }

  Graph &graph_;
  const Tensor &rows_;
  Operator op_;
  Sequence &prog_;
  const DebugContext &debugContext_;
};

void requireRows(const Tensor &toReduce, const char *function) {
  requireUser<poplibs_error>(
      toReduce.rank() >= 1 && toReduce.dim(0) > 0,
      "[gcl::{}] a tensor of shape {} given; its first dimension must be the "
      "IPUs",
      function, toReduce.shapeToString());
}

Tensor rowsOf(const Tensor &tensor) {
  const std::size_t ipus = tensor.dim(0);
  return tensor.reshape({ipus, tensor.numElements() / ipus});
}

} // namespace

Chunks reduceScatterWithinReplica(Graph &graph, const Tensor &toReduce,
                                  CollectiveOperator op, Sequence &prog,
                                  const DebugContext &debugContext,
                                  const OptionFlags &options) {
  constexpr const char *function = "reduceScatterWithinReplica";
  requireRows(toReduce, function);
  internal::methodOf(options);
  const auto combine =
      internal::operatorOf(op, toReduce.elementType(), function);
  const DebugContext context{debugContext, function};
  const Tensor rows = rowsOf(toReduce);
  const Ring ring(graph, rows, combine, prog, context);
  const std::size_t elements = rows.dim(1);
  const std::size_t ipus = rows.dim(0);
  const std::size_t size = (elements + ipus - 1) / ipus;
  std::vector<Chunk> chunks;
  for (unsigned ipu = 0; ipu < ipus; ++ipu) {
    const std::size_t begin = std::min(elements, ipu * size);
    const std::size_t end = std::min(elements, begin + size);
    if (begin < end) {
      chunks.emplace_back(ring.reduce(ipu, begin, end), ipu,
                          static_cast<unsigned>(begin));
    }
  }
  return Chunks(std::move(chunks), toReduce);
}

Tensor allGatherWithinReplica(Graph &graph, const Chunks &toGather,
                              Sequence &prog, const DebugContext &debugContext,
                              const OptionFlags &options) {
  constexpr const char *function = "allGatherWithinReplica";
  internal::methodOf(options);
  const Tensor &original = toGather.getOriginalInput();
  requireUser<poplibs_error>(
      original.valid(),
      "[gcl::{}] the chunks have no original input: take "
      "those of reduceScatterWithinReplica",
      function);
  const Tensor result = graph.clone(original, {debugContext, "gathered"});
  const Tensor rows = rowsOf(result);
  // Round the ring: in each step every IPU passes on what it took last.
  const auto ipus = static_cast<unsigned>(rows.dim(0));
  for (unsigned step = 0; step < ipus; ++step) {
    std::vector<Tensor> from, to;
    for (const Chunk &chunk : toGather.getChunks()) {
      const auto target = [&](unsigned ipu) {
        return rows[ipu % ipus].slice(
            chunk.offset, chunk.offset + chunk.tensor.numElements());
      };
      from.push_back(step == 0 ? chunk.tensor.flatten()
                               : target(chunk.index + step - 1));
      to.push_back(target(chunk.index + step));
    }
    if (!from.empty()) {
      prog.add(Copy(poplar::concat(from), poplar::concat(to), false,
                    {debugContext, function}));
    }
  }
  return result;
}

Tensor allReduceWithinReplica(Graph &graph, const Tensor &toReduce,
                              CollectiveOperator op, Sequence &prog,
                              const DebugContext &debugContext,
                              const OptionFlags &options) {
  const DebugContext context{debugContext, "allReduceWithinReplica"};
  if (op == CollectiveOperator::LOCAL) {
    const Tensor own = graph.clone(toReduce, {context, "own"});
    prog.add(Copy(toReduce, own, false, context));
    return own;
  }
  return allGatherWithinReplica(
      graph,
      reduceScatterWithinReplica(graph, toReduce, op, prog, context, options),
      prog, context, options);
}

} // namespace gcl
