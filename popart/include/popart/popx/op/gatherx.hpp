// How lookups are lowered is in their rule (popart/src/ops/Gather.cpp); what
// lowerings of users' own lookups may be derived from.
#pragma once

#include <popart/op/gather.hpp>
#include <popart/popx/opx.hpp>

#include <utility>

namespace popart {
namespace popx {

class GatherBaseOpx : public Opx {
public:
  GatherBaseOpx(Op *op, Devicex *devicex) : Opx(op, devicex) {}

protected:
  // Takes the axis and the group size of the operator.
  void setCommonMembersPostVerify(const Op *op);
  // Indices with those outside of the table as 0, and a mask of FLOAT or HALF
  // that is 0 for them and 1 for others.
  std::tuple<poplar::Tensor, poplar::Tensor>
  zeroIndiciesThatAreOutOfRange(poplar::program::Sequence &program,
                                const poplar::Tensor &data,
                                const poplar::Tensor &offsets) const;
  void zeroOutputOfOutOfRangeIndices(poplar::program::Sequence &program,
                                     poplar::Tensor &result,
                                     const poplar::Tensor &mask,
                                     const poplar::Tensor &data) const;

  std::int64_t axis = 0;
  std::int64_t group_size = 1;
};

class GatherOpx final : public GatherBaseOpx {
public:
  GatherOpx(Op *op, Devicex *devicex);
  void grow(poplar::program::Sequence &program) const override;
};

class GatherGradOpx : public GatherBaseOpx {
public:
  GatherGradOpx(Op *op, Devicex *devicex);
  void grow(poplar::program::Sequence &program) const override;
};

} // namespace popx
} // namespace popart
