#include <popops/internal/ElementwisePlan.hpp>

#include <popops/internal/BroadcastVertex.hpp>

#include <kernels/cost/Elementwise.hpp>
#include <poplar/internal/Access.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <optional>

namespace popops::internal {

using kernels::ElementwiseOpInfo;
using kernels::Expression;
using kernels::ExpressionStep;
using kernels::cost::TileSpec;
using poplar::Tensor;
using poplar::internal::VertexUse;
using poputil::internal::supervisorVertex;
using poputil::internal::TileShare;
using support::DataType;

namespace {

bool isSameView(const Tensor &a, const Tensor &b) {
  return poplar::internal::tensorView(a) == poplar::internal::tensorView(b);
}

std::string typedName(std::string_view vertex, std::string_view enumeration,
                      std::string_view op, DataType type) {
  return fmt::format("popops::{}<popops::expr::{}::{},{}>", vertex, enumeration,
                     op, support::toString(type));
}

const ElementwiseOpInfo &infoOf(const ExpressionStep &step) {
  return kernels::elementwiseOpInfo(
      static_cast<kernels::ElementwiseOp>(step.index));
}

VertexForShare unaryVertex(const ElementwiseOpInfo &op, DataType type,
                           bool inPlace) {
  return [&op, type, inPlace](const TileSpec &tile, std::uint64_t n) {
    return supervisorVertex(
        typedName(inPlace ? "UnaryOp1DInPlace" : "UnaryOp1D", "UnaryOpType",
                  op.name, type),
        kernels::cost::unaryOp1D(tile, op, type, n, inPlace), inPlace ? 1 : 2,
        n);
  };
}

VertexForShare binaryVertex(const ElementwiseOpInfo &op, DataType type,
                            Repeat repeat, bool inPlace) {
  return [=, &op](const TileSpec &tile, std::uint64_t n) {
    return broadcastVertex(tile, op, type, repeat, n, inPlace);
  };
}

VertexForShare castVertex(DataType from, DataType to) {
  return [from, to](const TileSpec &tile, std::uint64_t n) {
    return supervisorVertex(
        poputil::internal::vertexName("popops::Cast1D", {from, to}),
        kernels::cost::cast1D(tile, from, to, n), 2);
  };
}

VertexForShare ternaryVertex(const ElementwiseOpInfo &op, DataType type) {
  const bool isClamp = op.name == "CLAMP";
  return [type, isClamp](const TileSpec &tile, std::uint64_t n) {
    const auto cycles = kernels::cost::ternaryOp2D(tile, type, n, isClamp);
    return poputil::internal::workerVertices(
        poputil::internal::vertexName(
            isClamp ? "popops::Clamp" : "popops::Select", {type}),
        tile.workers, kernels::cost::ceilDiv(cycles, tile.workers), 4,
        kernels::cost::ceilDiv(n, tile.workers));
  };
}

VertexForShare generatedVertex(const Expression &expression, DataType type) {
  return [expression, type](const TileSpec &tile, std::uint64_t n) {
    const auto &steps = expression.steps();
    const auto operators = static_cast<std::uint64_t>(
        std::count_if(steps.begin(), steps.end(), [](const auto &step) {
          return step.kind == ExpressionStep::Kind::Operator;
        }));
    return supervisorVertex(
        fmt::format("MapGenerated{}<{}>", operators, support::toString(type)),
        kernels::cost::mapFused(tile, expression, type, n),
        expression.inputCount() + 1, operators * n);
  };
}

// The operator of an expression that is one operator over inputs and constants.
const ElementwiseOpInfo *singleOperator(const Expression &expression) {
  const auto &steps = expression.steps();
  const auto simple =
      std::count_if(steps.begin(), steps.end(), [](const ExpressionStep &step) {
        return step.kind == ExpressionStep::Kind::Input ||
               step.kind == ExpressionStep::Kind::Constant;
      });
  if (steps.empty() || steps.back().kind != ExpressionStep::Kind::Operator ||
      simple + 1 != static_cast<std::ptrdiff_t>(steps.size())) {
    return nullptr;
  }
  return &infoOf(steps.back());
}

// What planning may prefer of an input (section 7.2): smaller is better.
struct Preference {
  std::int64_t largestShare;
  std::int64_t fewerTiles;
  std::size_t regions;

  friend auto operator<=>(const Preference &, const Preference &) = default;
};

Preference preferenceOf(const poplar::Graph &graph, const Tensor &input) {
  const auto shares = poputil::internal::sharesOf(graph, input);
  Preference preference{0, 0, shares.size()};
  for (const auto &share : shares) {
    preference.largestShare = std::max(preference.largestShare, share.elements);
    preference.fewerTiles -= share.tiles.count;
  }
  return preference;
}

// Whether a result may lie as this input does: no element appears twice, and
// there are few enough runs to go through.
bool isMappingSource(const poplar::Graph &graph, const Tensor &input) {
  constexpr std::int64_t mostRuns = 4096;
  return poputil::internal::isWholeVariable(graph, input) ||
         (static_cast<std::int64_t>(input.numElements()) <=
              mostRuns * poputil::internal::runLength(input) &&
          !input.containsAliases());
}

poplar::Tensor addUnmapped(poplar::Graph &graph,
                           const kernels::TensorType &type,
                           const poplar::DebugContext &debugContext) {
  return graph.addVariable(
      poplar::internal::toType(type.type),
      std::vector<std::size_t>(type.shape.begin(), type.shape.end()),
      debugContext);
}

// A row-major variable whose elements lie where those of `input` do.
Tensor addMappedAs(poplar::Graph &graph, const Tensor &input,
                   const kernels::TensorType &type,
                   const poplar::DebugContext &debugContext) {
  if (poputil::internal::isWholeVariable(graph, input)) {
    return poputil::internal::addVariableLike(graph, type, input, debugContext);
  }
  const auto output = addUnmapped(graph, type, debugContext);
  bool isComplete = false; // the compiler will say so if not
  graph.setTileMapping(output, graph.getTileMapping(input, &isComplete));
  return output;
}

// A variable spread over the tiles in pieces of 64 bits.
Tensor addSpread(poplar::Graph &graph, const kernels::TensorType &type,
                 poputil::internal::TileRange tiles,
                 const poplar::DebugContext &debugContext) {
  const auto output = addUnmapped(graph, type, debugContext);
  const auto elements = support::elementCount(type.shape);
  if (elements != 0) {
    const auto grain =
        static_cast<std::int64_t>(8 / support::sizeOf(type.type));
    poplar::internal::setLinearMapping(
        graph, output,
        poputil::internal::linearPiece(elements, 0, grain, tiles));
  }
  return output;
}

} // namespace

VertexForShare chooseVertex(const Expression &expression,
                            const std::vector<Tensor> &inputs,
                            const Tensor &output) {
  const auto outputType = poplar::internal::tensorView(output).type;
  const auto type = inputs.empty()
                        ? outputType
                        : poplar::internal::tensorView(inputs.front()).type;
  const auto &steps = expression.steps();
  const bool inPlace = !inputs.empty() && isSameView(inputs.front(), output);
  if (steps.size() == 2 && steps[1].kind == ExpressionStep::Kind::Cast) {
    return castVertex(type, static_cast<DataType>(steps[1].index));
  }
  const auto *op = singleOperator(expression);
  if (op == nullptr) {
    return generatedVertex(expression, type);
  }
  if (op->arity == 1) {
    return unaryVertex(*op, type, inPlace);
  }
  if (op->arity == 3) {
    return ternaryVertex(*op, type);
  }
  Repeat repeat;
  for (std::size_t i = 0; i < 2; ++i) {
    if (steps[i].kind == ExpressionStep::Kind::Constant) {
      repeat = {Repeat::Kind::Scalar};
    } else if (repeat.kind == Repeat::Kind::None) {
      repeat = repeatOf(inputs[steps[i].index]);
    }
  }
  return binaryVertex(*op, type, output.rank() == 0 ? Repeat{} : repeat,
                      inPlace);
}

poplar::internal::GroupPhase planPass(const poplar::Graph &graph,
                                      std::string name,
                                      const std::vector<Tensor> &inputs,
                                      const Tensor &output,
                                      const VertexForShare &vertex) {
  const auto tile = poputil::internal::tileSpec(graph);
  const auto shares = poputil::internal::sharesOf(graph, output);
  poputil::internal::PhaseBuilder phase(std::move(name));
  for (const auto &share : shares) {
    phase.addVertex(share.tiles,
                    vertex(tile, static_cast<std::uint64_t>(share.elements)));
  }
  const bool isWhole = poputil::internal::isWholeVariable(graph, output);
  for (const auto &input : inputs) {
    const auto from = poputil::internal::distinctSharesOf(graph, input);
    const bool isLocal = isSameView(input, output) ||
                         (isWhole && from == shares &&
                          poputil::internal::isWholeVariable(graph, input));
    if (isLocal) {
      continue;
    }
    const auto size = support::sizeOf(poplar::internal::tensorView(input).type);
    const auto distinct = poputil::internal::distinctElements(input);
    const bool isBroadcast =
        distinct < static_cast<std::int64_t>(input.numElements());
    const auto run =
        isBroadcast ? distinct : poputil::internal::runLength(input);
    for (const auto &share : shares) {
      const auto elements = std::min(share.elements, distinct);
      phase.receive(share.tiles, static_cast<std::uint64_t>(elements) * size,
                    static_cast<std::uint64_t>((elements + run - 1) / run),
                    isBroadcast && elements == distinct);
    }
    for (const auto &share : from) {
      phase.send(share.tiles, static_cast<std::uint64_t>(
                                  std::min(share.elements, distinct)) *
                                  size);
    }
  }
  return phase.build();
}

Tensor addOutput(poplar::Graph &graph, const std::vector<Tensor> &inputs,
                 const kernels::TensorType &type,
                 const poplar::DebugContext &debugContext) {
  const auto elements = support::elementCount(type.shape);
  const Tensor *best = nullptr;
  std::optional<Preference> preference;
  for (const auto &input : inputs) {
    if (static_cast<std::int64_t>(input.numElements()) != elements ||
        !isMappingSource(graph, input)) {
      continue;
    }
    const auto candidate = preferenceOf(graph, input);
    if (!preference || candidate < *preference) {
      preference = candidate;
      best = &input;
    }
  }
  if (best == nullptr && elements == 1) {
    best = &inputs.front();
  }
  if (best != nullptr) {
    return addMappedAs(graph, *best, type, debugContext);
  }
  const auto largest = std::max_element(
      inputs.begin(), inputs.end(), [](const Tensor &a, const Tensor &b) {
        return poputil::internal::distinctElements(a) <
               poputil::internal::distinctElements(b);
      });
  return addSpread(graph, type, poputil::internal::tilesOf(graph, *largest),
                   debugContext);
}

} // namespace popops::internal
