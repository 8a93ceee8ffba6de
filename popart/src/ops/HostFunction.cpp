// A function of the host in the middle of the program: the inputs go over, it
// runs, the outputs come back. Session::connectHostFunction says which it is.
#include <ops/HostFunction.hpp>

#include <lowering/LoweringContext.hpp>
#include <ops/Common.hpp>

#include <fmt/format.h>
#include <poplar/DataStream.hpp>

namespace popart {
namespace {

using poplar::program::Copy;

// Attributes type_<i> and shape_<i> for each of so many outputs.
std::vector<TensorInfo> infer(const Op &op) {
  requireOp(op, !op.attributes.getString("handle", "").empty(),
            "needs a handle, the name of the function");
  std::vector<TensorInfo> infos;
  for (std::int64_t i = 0; i < op.attributes.getInt("num_outputs", 0); ++i) {
    auto index = std::to_string(i);
    infos.emplace_back(
        op.attributes.getAttribute<Attributes::String>("type_" + index),
        op.attributes.getAttribute<Attributes::Ints>("shape_" + index));
  }
  return infos;
}

void lower(LoweringContext &context, const Op &op) {
  std::string handle = op.attributes.getString("handle", "");
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    poplar::Tensor in = context.in(static_cast<InIndex>(i)).flatten();
    auto stream = context.graph().addDeviceToHostFIFO(
        hostFunctionInput(handle, i), in.elementType(), in.numElements());
    context.program().add(Copy(in, stream, false, context.debugPath()));
  }
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    auto index = static_cast<OutIndex>(i);
    poplar::Tensor out = context.addVariable(
        op.outInfo(index), op.settings.vgraphId, op.outputs[i]);
    auto stream = context.graph().addHostToDeviceFIFO(
        hostFunctionOutput(handle, i), out.elementType(), out.numElements());
    context.program().add(
        Copy(stream, out.flatten(), false, context.debugPath()));
    context.setOut(index, out);
  }
}

} // namespace

std::string hostFunctionInput(const std::string &handle, std::size_t index) {
  return fmt::format("{}:in:{}", handle, index);
}

std::string hostFunctionOutput(const std::string &handle, std::size_t index) {
  return fmt::format("{}:out:{}", handle, index);
}

std::vector<OpRule> hostFunctionRules() {
  return {{.domain = "aspen",
           .type = "HostFunction",
           .infer = infer,
           .lower = lower,
           .hasSideEffect = true}};
}

} // namespace popart
