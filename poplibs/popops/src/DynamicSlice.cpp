#include <popops/DynamicSlice.hpp>

#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <popops/internal/IndexingKinds.hpp>

#include <poplar/exceptions.hpp>
#include <poplar/internal/Access.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

#include <fmt/format.h>

namespace popops {

using internal::EmbeddingPlan;
using internal::SliceOptions;
using internal::SlicePlanAccess;
using kernels::Attributes;
using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::program::Sequence;
using poputil::poplibs_error;
using support::requireUser;
using Shape = std::vector<std::size_t>;

namespace {

Attributes::Ints toInts(const Shape &values) {
  return {values.begin(), values.end()};
}

Attributes sliceAttributes(const Shape &dims, const Shape &sizes,
                           const SliceOptions &options) {
  return {{"dims", toInts(dims)},
          {"sizes", toInts(sizes)},
          {"outOfRange", options.remapOutOfBoundIndices ? "first" : "skip"},
          {"missing", "zero"}};
}

Attributes updateAttributes(const Shape &dims, const Shape &sizes,
                            const SliceOptions &options, const std::string &op,
                            bool isScaled) {
  return {{"dims", toInts(dims)},
          {"sizes", toInts(sizes)},
          {"outOfRange", options.remapOutOfBoundIndices ? "first" : "skip"},
          {"op", op},
          {"scaled", std::int64_t{isScaled}}};
}

// The slices of a tensor, as the kinds and their messages know them.
struct Request {
  std::string_view function;
  Tensor t;       // [groups, ...]
  Tensor offsets; // [groups, n, dims]
  Shape dims;     // of t without groups
  Shape sizes;

  std::size_t groups() const { return t.dim(0); }
  std::size_t count() const { return offsets.dim(1); }
  Shape slicesShape() const {
    Shape shape = t.shape();
    for (std::size_t j = 0; j < dims.size(); ++j) {
      shape[dims[j] + 1] = sizes[j];
    }
    shape.insert(shape.begin() + 1, count());
    return shape;
  }
};

void check(const Graph &graph, const Request &request,
           std::string_view vertex) {
  poputil::internal::requireCodelets(graph, "popops", vertex);
  const auto &[function, t, offsets, dims, sizes] = request;
  requireUser<poplibs_error>(
      dims.size() == sizes.size(),
      "[popops::{}] dims has {} entries and sizes {}; there must be one size "
      "for each dimension",
      function, dims.size(), sizes.size());
  for (std::size_t j = 0; j < dims.size(); ++j) {
    requireUser<poplibs_error>(
        dims[j] + 1 < t.rank(),
        "[popops::{}] dimension {} is not one of shape {}", function, dims[j],
        t[0].shapeToString());
    requireUser<poplibs_error>(
        sizes[j] <= t.dim(static_cast<unsigned>(dims[j] + 1)),
        "[popops::{}] a slice of {} does not fit dimension {} of shape {}",
        function, sizes[j], dims[j], t[0].shapeToString());
  }
  requireUser<poplibs_error>(offsets.elementType() == poplar::UNSIGNED_INT ||
                                 offsets.elementType() == poplar::INT,
                             "[popops::{}] the offsets have type {}; they must "
                             "be UNSIGNED_INT",
                             function,
                             std::string(offsets.elementType().toString()));
}

Request single(std::string_view function, const Tensor &t, const Tensor &offset,
               const Shape &dims, const Shape &sizes) {
  requireUser<poplibs_error>(
      offset.numElements() == dims.size() && offset.rank() <= 1,
      "[popops::{}] the offset has shape {}; it needs one element for each of "
      "{} dimensions",
      function, offset.shapeToString(), dims.size());
  return {function, t.expand({0}), offset.reshape({1, 1, dims.size()}), dims,
          sizes};
}

Request many(std::string_view function, const Tensor &t, const Tensor &offsets,
             const Shape &dims, const Shape &sizes, bool isGrouped) {
  requireUser<poplibs_error>(
      offsets.rank() == (isGrouped ? 3u : 2u) &&
          offsets.dim(offsets.rank() - 1) == dims.size() &&
          (!isGrouped || (t.rank() > 0 && offsets.dim(0) == t.dim(0))),
      "[popops::{}] the offsets have shape {}; it must be {{{}indices,{}}}",
      function, offsets.shapeToString(), isGrouped ? "groups," : "",
      dims.size());
  requireUser<poplibs_error>(!dims.empty(),
                             "[popops::{}] dims is empty; name a dimension to "
                             "slice",
                             function);
  return {function, isGrouped ? t : t.expand({0}),
          isGrouped ? offsets : offsets.expand({0}), dims, sizes};
}

// Ends the run where an index is out of range.
void addValidation(Graph &graph, const Request &request, Sequence &prog,
                   const DebugContext &debugContext) {
  using namespace expr;
  for (std::size_t j = 0; j < request.dims.size(); ++j) {
    const auto extent = static_cast<unsigned>(
        request.t.dim(static_cast<unsigned>(request.dims[j] + 1)));
    const auto indices = request.offsets.slice(j, j + 1, 2)
                             .flatten()
                             .reinterpret(poplar::UNSIGNED_INT);
    const auto isOutside = map(graph, Gte(_1, Const(extent)), {indices}, prog,
                               {debugContext, "Validate"});
    const auto any = reduce(graph, isOutside, {0}, Operation::LOGICAL_OR, prog,
                            {debugContext, "Validate"});
    prog.add(poplar::program::AbortOnCondition(
        any,
        fmt::format("[popops::{}] an index is not below {}, the size of "
                    "dimension {}",
                    request.function, extent, request.dims[j]),
        debugContext));
  }
}

Tensor slices(Graph &graph, const Request &request, const Tensor &output,
              const EmbeddingPlan *plan, const OptionFlags &flags,
              Sequence &prog, const DebugContext &debugContext) {
  const auto options = internal::parseSliceOptions(flags);
  check(graph, request, "popops::DynamicSlice1D");
  if (options.validateIndices) {
    addValidation(graph, request, prog, debugContext);
  }
  return internal::emitSlices(
      graph, sliceAttributes(request.dims, request.sizes, options), request.t,
      request.offsets, output, plan, prog, debugContext);
}

void updates(Graph &graph, const Request &request, const Tensor &s,
             const std::string &op, const Tensor *scale,
             const EmbeddingPlan *plan, const OptionFlags &flags,
             Sequence &prog, const DebugContext &debugContext) {
  const auto options = internal::parseSliceOptions(flags);
  check(graph, request, "popops::MultiUpdate");
  const auto &t = request.t;
  requireUser<poplibs_error>(
      s.elementType() == t.elementType(),
      "[popops::{}] the updates have type {} and the tensor {}; they must be "
      "the same",
      request.function, std::string(s.elementType().toString()),
      std::string(t.elementType().toString()));
  const auto wanted = request.slicesShape();
  requireUser<poplibs_error>(
      s.shape() == wanted,
      "[popops::{}] the updates have shape {{{}}}; the slices have {{{}}}",
      request.function, fmt::join(s.shape(), ","), fmt::join(wanted, ","));
  requireUser<poplibs_error>(
      t.isParallelWriteable(),
      "[popops::{}] the tensor to update has elements that are constant or "
      "appear twice",
      request.function);
  if (options.validateIndices) {
    addValidation(graph, request, prog, debugContext);
  }
  std::vector<Tensor> inputs{t, s, request.offsets};
  if (scale != nullptr) {
    requireUser<poplibs_error>(
        scale->numElements() == 1,
        "[popops::{}] the scale has shape {}; it must have one element",
        request.function, scale->shapeToString());
    inputs.push_back(scale->reshape({}));
  }
  internal::emitUpdates(graph,
                        updateAttributes(request.dims, request.sizes, options,
                                         op, scale != nullptr),
                        inputs, plan, prog, debugContext);
}

// Indices known now, as a tensor.
Tensor constantOffsets(Graph &graph, std::string_view function, const Tensor &t,
                       poplar::ArrayRef<unsigned> offsets, std::size_t dim) {
  requireUser<poplibs_error>(dim < t.rank(),
                             "[popops::{}] dimension {} is not one of shape {}",
                             function, dim, t.shapeToString());
  for (const auto offset : offsets) {
    requireUser<poplibs_error>(
        offset < t.dim(static_cast<unsigned>(dim)),
        "[popops::{}] offset {} is not below {}, the size of dimension {}",
        function, offset, t.dim(static_cast<unsigned>(dim)), dim);
  }
  const auto constant = graph.addConstant(
      poplar::UNSIGNED_INT, {offsets.size(), 1}, offsets, "offsets");
  graph.setTileMapping(constant, 0);
  return constant;
}

} // namespace

Tensor dynamicSlice(Graph &graph, const Tensor &t, const Tensor &offset,
                    const Shape &dims, const Shape &sizes, Sequence &prog,
                    const DebugContext &debugContext,
                    const OptionFlags &options) {
  const auto request = single("dynamicSlice", t, offset, dims, sizes);
  if (dims.empty()) {
    const auto copy = graph.clone(t, debugContext);
    prog.add(poplar::program::Copy(t, copy, false, debugContext));
    return copy;
  }
  return slices(graph, request, {}, nullptr, options, prog,
                {debugContext, "dynamicSlice"})[0][0];
}

void dynamicSliceWithOutput(Graph &graph, const Tensor &output, const Tensor &t,
                            const Tensor &offset, const Shape &dims,
                            const Shape &sizes, Sequence &prog,
                            const DebugContext &debugContext,
                            const OptionFlags &options) {
  const auto request = single("dynamicSliceWithOutput", t, offset, dims, sizes);
  const auto wanted = request.slicesShape();
  requireUser<poplibs_error>(
      output.shape() == Shape(wanted.begin() + 2, wanted.end()) &&
          output.elementType() == t.elementType(),
      "[popops::dynamicSliceWithOutput] the output is {} {}; it must be {} "
      "{{{}}}",
      std::string(output.elementType().toString()), output.shapeToString(),
      std::string(t.elementType().toString()),
      fmt::join(wanted.begin() + 2, wanted.end(), ","));
  if (dims.empty()) {
    prog.add(poplar::program::Copy(t, output, false, debugContext));
    return;
  }
  slices(graph, request, output.reshape(wanted), nullptr, options, prog,
         {debugContext, "dynamicSlice"});
}

void dynamicUpdate(Graph &graph, const Tensor &t, const Tensor &s,
                   const Tensor &offset, const Shape &dims, const Shape &sizes,
                   Sequence &prog, const DebugContext &debugContext,
                   const OptionFlags &options) {
  const auto request = single("dynamicUpdate", t, offset, dims, sizes);
  if (dims.empty()) {
    prog.add(poplar::program::Copy(s, t, false, debugContext));
    return;
  }
  updates(graph, request, s.expand({0, 0}), "COPY", nullptr, nullptr, options,
          prog, {debugContext, "dynamicUpdate"});
}

Tensor multiSlice(Graph &graph, const Tensor &t, const Tensor &offsets,
                  const Shape &dims, const Shape &sizes, Sequence &prog,
                  const SlicePlan &plan, const OptionFlags &options,
                  const DebugContext &debugContext) {
  return slices(graph, many("multiSlice", t, offsets, dims, sizes, false), {},
                SlicePlanAccess::get(plan), options, prog,
                {debugContext, "multiSlice"})[0];
}

Tensor groupedMultiSlice(Graph &graph, const Tensor &t, const Tensor &offsets,
                         const Shape &dims, const Shape &sizes, Sequence &prog,
                         const SlicePlan &plan, const OptionFlags &options,
                         const DebugContext &debugContext) {
  return slices(graph, many("groupedMultiSlice", t, offsets, dims, sizes, true),
                {}, SlicePlanAccess::get(plan), options, prog,
                {debugContext, "groupedMultiSlice"});
}

Tensor multiSlice(Graph &graph, const Tensor &t,
                  poplar::ArrayRef<unsigned> offsets, std::size_t dim,
                  Sequence &prog, const DebugContext &debugContext,
                  const OptionFlags &options) {
  const auto constant = constantOffsets(graph, "multiSlice", t, offsets, dim);
  return multiSlice(graph, t.dimRoll(static_cast<unsigned>(dim)), constant, {0},
                    {1}, prog, {}, options, debugContext)
      .squeeze({1})
      .dimRoll(0, static_cast<unsigned>(dim));
}

#define POPOPS_MULTI_UPDATE(name, op, isGrouped)                               \
  void name(Graph &graph, const Tensor &t, const Tensor &s,                    \
            const Tensor &offsets, const Shape &dims, const Shape &sizes,      \
            Sequence &prog, const SlicePlan &plan, const OptionFlags &options, \
            const DebugContext &debugContext) {                                \
    updates(graph, many(#name, t, offsets, dims, sizes, isGrouped),            \
            isGrouped ? s : s.expand({0}), op, nullptr,                        \
            SlicePlanAccess::get(plan), options, prog, {debugContext, #name}); \
  }
POPOPS_MULTI_UPDATE(multiUpdate, "COPY", false)
POPOPS_MULTI_UPDATE(groupedMultiUpdate, "COPY", true)
POPOPS_MULTI_UPDATE(multiUpdateMax, "MAX", false)
POPOPS_MULTI_UPDATE(groupedMultiUpdateMax, "MAX", true)
POPOPS_MULTI_UPDATE(multiUpdateMul, "MUL", false)
POPOPS_MULTI_UPDATE(groupedMultiUpdateMul, "MUL", true)
#undef POPOPS_MULTI_UPDATE

void multiUpdateAdd(Graph &graph, const Tensor &t, const Tensor &s,
                    const Tensor &offsets, const Tensor &scale,
                    const Shape &dims, const Shape &sizes, Sequence &prog,
                    const SlicePlan &plan, const OptionFlags &options,
                    const DebugContext &debugContext) {
  updates(graph, many("multiUpdateAdd", t, offsets, dims, sizes, false),
          s.expand({0}), "ADD", &scale, SlicePlanAccess::get(plan), options,
          prog, {debugContext, "multiUpdateAdd"});
}

void groupedMultiUpdateAdd(Graph &graph, const Tensor &t, const Tensor &s,
                           const Tensor &offsets, const Tensor &scale,
                           const Shape &dims, const Shape &sizes,
                           Sequence &prog, const SlicePlan &plan,
                           const OptionFlags &options,
                           const DebugContext &debugContext) {
  updates(graph, many("groupedMultiUpdateAdd", t, offsets, dims, sizes, true),
          s, "ADD", &scale, SlicePlanAccess::get(plan), options, prog,
          {debugContext, "groupedMultiUpdateAdd"});
}

void multiUpdateAdd(Graph &graph, const Tensor &t, const Tensor &s,
                    poplar::ArrayRef<unsigned> offsets, const Tensor &scale,
                    std::size_t dim, Sequence &prog,
                    const DebugContext &debugContext,
                    const OptionFlags &options) {
  const auto constant =
      constantOffsets(graph, "multiUpdateAdd", t, offsets, dim);
  requireUser<poplibs_error>(
      s.rank() == t.rank(),
      "[popops::multiUpdateAdd] the updates have shape {} and the tensor {}; "
      "they may differ in dimension {} only",
      s.shapeToString(), t.shapeToString(), dim);
  const auto at = static_cast<unsigned>(dim);
  multiUpdateAdd(graph, t.dimRoll(at), s.dimRoll(at).expand({1}), constant,
                 scale, {0}, {1}, prog, {}, options, debugContext);
}

} // namespace popops
