// Indices, and the kinds that go by them.
#include <ops/Indices.hpp>

#include <ops/Common.hpp>

#include <lowering/LoweringContext.hpp>

#include <popops/internal/Kinds.hpp>

namespace popart {
namespace {

kernels::Attributes entries() {
  return {{"dims", Shape{0}},
          {"sizes", Shape{1}},
          {"outOfRange", std::string("skip")}};
}

} // namespace

void requireIndices(const Op &op, InIndex input) {
  DataType type = op.inInfo(input).dataType();
  requireOp(op,
            type == DataType::INT32 || type == DataType::INT64 ||
                type == DataType::UINT32 || type == DataType::UINT64,
            "indices are {}; they must be INT32 or INT64",
            op.inInfo(input).data_type());
}

poplar::Tensor positiveIndices(LoweringContext &context,
                               const poplar::Tensor &indices,
                               std::int64_t size) {
  if (indices.elementType() != poplar::INT) {
    return indices;
  }
  const std::string_view names[] = {"i"};
  return context.emit(kernels::Expression::parse(
                          fmt::format("select(i+{},i,i<0)", size), names),
                      {indices});
}

kernels::Attributes sliceAttributes() {
  auto attributes = entries();
  attributes.set("missing", std::string("zero"));
  return attributes;
}

kernels::Attributes updateAttributes(const std::string &operation) {
  auto attributes = entries();
  attributes.set("op", operation);
  attributes.set("scaled", std::int64_t{0});
  return attributes;
}

poplar::Tensor filledVariable(LoweringContext &context, const Op &op,
                              const TensorInfo &info, double value) {
  poplar::Tensor variable =
      context.addVariable(info, op.settings.vgraphId, context.debugPath());
  popops::internal::fill(context.graph(), variable, value, context.program(),
                         context.debugPath());
  return variable;
}

} // namespace popart
