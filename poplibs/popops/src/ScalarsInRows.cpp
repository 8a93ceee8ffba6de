// Elements of rows picked and changed by an index for each row: every row is a
// group with one slice.
#include <popops/SelectScalarFromRows.hpp>
#include <popops/UpdateScalarInRows.hpp>

#include <popops/internal/IndexingKinds.hpp>

#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

namespace popops {

using kernels::Attributes;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Sequence;
using poputil::poplibs_error;
using support::requireUser;

namespace {

void check(const Graph &graph, std::string_view function, const Tensor &params,
           const Tensor &indices) {
  poputil::internal::requireCodelets(graph, "popops",
                                     "popops::" + std::string(function));
  requireUser<poplibs_error>(
      params.rank() == 2 && indices.rank() == 1 &&
          params.dim(0) == indices.dim(0),
      "[popops::{}] the parameters have shape {} and the indices {}; there "
      "must be an index for each row",
      function, params.shapeToString(), indices.shapeToString());
  requireUser<poplibs_error>(
      params.elementType() == poplar::FLOAT ||
          params.elementType() == poplar::HALF,
      "[popops::{}] the parameters have type {}; it must be FLOAT or HALF",
      function, std::string(params.elementType().toString()));
}

} // namespace

Tensor selectScalarFromRows(Graph &graph, const Tensor &params,
                            const Tensor &indices, Sequence &program,
                            const DebugContext &debugContext) {
  check(graph, "SelectFromRows", params, indices);
  const Attributes attributes{{"dims", Attributes::Ints{0}},
                              {"sizes", Attributes::Ints{1}},
                              {"outOfRange", "skip"},
                              {"missing", "nan"}};
  return internal::dynamicSlice(graph, attributes,
                                {params, indices.expand({1, 1})}, program,
                                {debugContext, "selectScalarFromRows"}, {})
      .front()
      .flatten();
}

void updateScalarInRows(Graph &graph, const Tensor &params,
                        const Tensor &indices, Sequence &program,
                        const DebugContext &debugContext) {
  check(graph, "UpdateIntervals", params, indices);
  const auto rows = params.dim(0);
  const auto minusOne = graph.addConstant(params.elementType(), {rows, 1, 1},
                                          -1.0f, {debugContext, "minusOne"});
  graph.setTileMapping(minusOne, 0);
  const Attributes attributes{{"dims", Attributes::Ints{0}},
                              {"sizes", Attributes::Ints{1}},
                              {"outOfRange", "skip"},
                              {"op", "ADD"},
                              {"scaled", std::int64_t{0}}};
  internal::dynamicUpdate(graph, attributes,
                          {params, minusOne, indices.expand({1, 1})}, program,
                          {debugContext, "updateScalarInRows"}, {});
}

} // namespace popops
