// A tensor on one IPU copied to another. Only the machine program has these.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <lowering/LoweringContext.hpp>

namespace popart {
namespace {

std::vector<TensorInfo> inferIpuCopy(const Op &op) {
  requireInputCount(op, 1, 1);
  return {op.inInfo(0)};
}

void lowerIpuCopy(LoweringContext &context, const Op &op) {
  poplar::Tensor copy = context.addVariable(
      op.outInfo(0), op.attributes.getInt("destination", 0), op.outputs[0]);
  context.program().add(
      poplar::program::Copy(context.in(0), copy, false, context.debugPath()));
  context.setOut(0, copy);
}

} // namespace

std::vector<OpRule> ipuCopyRules() {
  return {{.domain = "aspen",
           .type = "IpuCopy",
           .infer = inferIpuCopy,
           .lower = lowerIpuCopy}};
}

} // namespace popart
