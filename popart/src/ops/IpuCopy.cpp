// Tensors on one IPU copied to another. Only the machine program has these.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <lowering/CopyTogether.hpp>
#include <lowering/LoweringContext.hpp>

#include <vector>

namespace popart {
namespace {

std::vector<TensorInfo> inferIpuCopy(const Op &op) {
  std::vector<TensorInfo> outputs;
  for (InIndex i = 0; i < static_cast<InIndex>(op.inputs.size()); ++i) {
    outputs.push_back(op.inInfo(i));
  }
  return outputs;
}

void lowerIpuCopy(LoweringContext &context, const Op &op) {
  std::vector<poplar::Tensor> from, to;
  VGraphId destination = op.attributes.getInt("destination", 0);
  for (InIndex i = 0; i < static_cast<InIndex>(op.inputs.size()); ++i) {
    from.push_back(context.in(i));
    to.push_back(context.addVariable(op.outInfo(i), destination,
                                     op.outputs[static_cast<std::size_t>(i)]));
    context.setOut(i, to.back());
  }
  copyTogether(context.graph(), from, to, context.program(),
               context.debugPath());
}

} // namespace

std::vector<OpRule> ipuCopyRules() {
  return {{.domain = "aspen",
           .type = "IpuCopy",
           .infer = inferIpuCopy,
           .lower = lowerIpuCopy}};
}

} // namespace popart
