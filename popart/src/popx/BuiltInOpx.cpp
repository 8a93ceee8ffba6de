// Lowerings of built-in operators by PopART's names: each is what the
// operator's rule does, and the parts that users' lowerings share.
#include <popart/popx/op/gatherx.hpp>
#include <popart/popx/op/matmulx.hpp>

#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>
#include <ops/OpRule.hpp>

#include <popops/ElementWise.hpp>

namespace popart::popx {
namespace {

namespace pe = popops::expr;

} // namespace

void Opx::growByRule(poplar::program::Sequence &program) const {
  context().into(program,
                 [&] { op_p->builtInRule()->lower(context(), *op_p); });
}

MatMulOpx::MatMulOpx(Op *op, Devicex *devicex) : Opx(op, devicex) {
  verifyOp<MatMulOp>(op);
}

void MatMulOpx::grow(poplar::program::Sequence &program) const {
  growByRule(program);
}

std::vector<std::size_t> MatMulOpx::onnxShapeToPoplar(const Shape &shape) {
  return poplarShape(shape);
}

void MatMulOpx::addPartialsType(const MatMulPartialsType &type,
                                poplar::OptionFlags &options) {
  options.set("partialsType",
              type == MatMulPartialsType::HALF ? "half" : "float");
}

void MatMulOpx::appendPoplarOptionsForOp(const MatMulBaseOp &op,
                                         poplar::OptionFlags &options) {
  if (optional<float> memory = op.getAvailableMemoryProportion()) {
    options.set("availableMemoryProportion", fmt::format("{}", *memory));
  }
  addPartialsType(op.getPartialsType(), options);
}

void GatherBaseOpx::setCommonMembersPostVerify(const Op *op) {
  if (const auto *gather = dynamic_cast<const GatherOp *>(op)) {
    axis = gather->getAxis();
    group_size = gather->getGroupSize();
  } else if (const auto *grad = dynamic_cast<const GatherGradOp *>(op)) {
    axis = grad->getAxis();
    group_size = grad->getGroupSize();
  }
}

std::tuple<poplar::Tensor, poplar::Tensor>
GatherBaseOpx::zeroIndiciesThatAreOutOfRange(
    poplar::program::Sequence &program, const poplar::Tensor &data,
    const poplar::Tensor &offsets) const {
  auto entries = static_cast<unsigned>(data.dim(static_cast<unsigned>(axis)));
  poplar::Tensor unsignedOffsets = offsets.reinterpret(poplar::UNSIGNED_INT);
  poplar::Tensor isInside =
      popops::map(graph(), pe::Lt(pe::_1, pe::Const(entries)),
                  {unsignedOffsets}, program, debugContext("isInside"));
  poplar::Tensor safe = popops::map(
      graph(), pe::_1 * pe::Cast(pe::_2, poplar::UNSIGNED_INT),
      {unsignedOffsets, isInside}, program, debugContext("offsets"));
  poplar::Tensor mask =
      popops::map(graph(), pe::Cast(pe::_1, data.elementType()), {isInside},
                  program, debugContext("mask"));
  return std::make_tuple(safe.reinterpret(offsets.elementType()), mask);
}

void GatherBaseOpx::zeroOutputOfOutOfRangeIndices(
    poplar::program::Sequence &program, poplar::Tensor &result,
    const poplar::Tensor &mask, const poplar::Tensor &) const {
  poplar::Tensor wide = mask;
  while (wide.rank() < result.rank()) {
    wide = wide.expand({wide.rank()});
  }
  popops::mapInPlace(graph(), pe::_1 * pe::_2, {result, wide}, program,
                     debugContext("zeroed"));
}

GatherOpx::GatherOpx(Op *op, Devicex *devicex) : GatherBaseOpx(op, devicex) {
  verifyOp<GatherOp>(op);
  setCommonMembersPostVerify(op);
}

void GatherOpx::grow(poplar::program::Sequence &program) const {
  growByRule(program);
}

GatherGradOpx::GatherGradOpx(Op *op, Devicex *devicex)
    : GatherBaseOpx(op, devicex) {
  verifyOp<GatherGradOp>(op);
  setCommonMembersPostVerify(op);
}

void GatherGradOpx::grow(poplar::program::Sequence &program) const {
  growByRule(program);
}

} // namespace popart::popx
