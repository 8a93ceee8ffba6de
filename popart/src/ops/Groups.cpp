// The first dimension of operators that have groups.
#include <ops/Groups.hpp>

#include <ops/Common.hpp>

namespace popart {

bool isGrouped(const Op &op) {
  return op.attributes.getInt("group_size", 1) > 1;
}

std::size_t groupedAxis(const Op &op, std::int64_t fallback) {
  std::int64_t axis = normaliseAxis(op, op.attributes.getInt("axis", fallback),
                                    op.inInfo(0).rank());
  requireOp(op, axis > 0 || !isGrouped(op),
            "axis 0 is that of the {} groups; another one is needed",
            op.attributes.getInt("group_size", 1));
  return static_cast<std::size_t>(axis);
}

void checkGroups(const Op &op) {
  std::int64_t groups = op.attributes.getInt("group_size", 1);
  for (InIndex i : {0, 1}) {
    requireOp(op,
              !isGrouped(op) ||
                  (!op.inShape(i).empty() && op.inShape(i)[0] == groups),
              "input {} has shape {}; its first dimension must be {}, the "
              "group_size",
              i, support::toString(op.inShape(i)), groups);
  }
}

} // namespace popart
