// Tensors on one IPU copied to another. Only the machine program has these.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <lowering/LoweringContext.hpp>

#include <map>

namespace popart {
namespace {

std::vector<TensorInfo> inferIpuCopy(const Op &op) {
  std::vector<TensorInfo> outputs;
  for (InIndex i = 0; i < static_cast<InIndex>(op.inputs.size()); ++i) {
    outputs.push_back(op.inInfo(i));
  }
  return outputs;
}

// One copy for all tensors of a type.
void lowerIpuCopy(LoweringContext &context, const Op &op) {
  struct Ends {
    std::vector<poplar::Tensor> from, to;
  };
  std::map<DataType, Ends> byType;
  VGraphId destination = op.attributes.getInt("destination", 0);
  for (InIndex i = 0; i < static_cast<InIndex>(op.inputs.size()); ++i) {
    poplar::Tensor copy = context.addVariable(
        op.outInfo(i), destination, op.outputs[static_cast<std::size_t>(i)]);
    Ends &ends = byType[op.outInfo(i).dataType()];
    ends.from.push_back(context.in(i).flatten());
    ends.to.push_back(copy.flatten());
    context.setOut(i, copy);
  }
  for (const auto &[type, ends] : byType) {
    context.program().add(poplar::program::Copy(poplar::concat(ends.from),
                                                poplar::concat(ends.to), false,
                                                context.debugPath()));
  }
}

} // namespace

std::vector<OpRule> ipuCopyRules() {
  return {{.domain = "aspen",
           .type = "IpuCopy",
           .infer = inferIpuCopy,
           .lower = lowerIpuCopy}};
}

} // namespace popart
