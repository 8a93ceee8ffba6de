// Convolutions and their gradients for the conformance tests.
#include "Libraries.hpp"

#include <poplin/ConvUtil.hpp>
#include <poplin/Convolution.hpp>
#include <poplin/codelets.hpp>

namespace conformance {
namespace {

using poplin::ConvParams;
using Numbers = std::vector<unsigned>;
using Shape = std::vector<std::size_t>;

// The transform that the row's parameters "<operand>Dilation" and so on give.
ConvParams::InputTransform
inputTransform(const Call &call, const std::string &operand, std::size_t dims) {
  ConvParams::InputTransform transform(dims);
  const auto read = [&](const char *name, Numbers &values) {
    values = call.get<Numbers>(operand + name, values);
  };
  read("TruncationLower", transform.truncationLower);
  read("TruncationUpper", transform.truncationUpper);
  read("Dilation", transform.dilation);
  read("PaddingLower", transform.paddingLower);
  read("PaddingUpper", transform.paddingUpper);
  const auto flip = call.get<Numbers>(operand + "Flip", Numbers(dims, 0));
  transform.flip.assign(flip.begin(), flip.end());
  return transform;
}

ConvParams::OutputTransform outputTransform(const Call &call,
                                            std::size_t dims) {
  ConvParams::OutputTransform transform(dims);
  const auto read = [&](const char *name, Numbers &values) {
    values = call.get<Numbers>(name, values);
  };
  read("outputTruncationLower", transform.truncationLower);
  read("outputTruncationUpper", transform.truncationUpper);
  read("stride", transform.stride);
  read("outputPaddingLower", transform.paddingLower);
  read("outputPaddingUpper", transform.paddingUpper);
  return transform;
}

// Of the forward convolution of x [N,C,...] with weights [g,o,c,...]; a shape
// that the row gives stands for a tensor that it has not.
ConvParams paramsOf(const Call &call) {
  poplin::addCodelets(const_cast<Call &>(call).graph());
  const auto shapeOf = [&](const char *name) {
    return call.hasTensor(name) ? call.tensor(name).shape()
                                : call.get<Shape>(std::string(name) + "Shape");
  };
  const auto x = shapeOf("x");
  const auto w = shapeOf("w");
  const auto type = call.tensor(call.hasTensor("x") ? "x" : "w").elementType();
  const auto dims = x.size() - 2;
  return ConvParams(
      type, call.get<poplar::Type>("outputType", type), x[0],
      Shape(x.begin() + 2, x.end()), Shape(w.begin() + 3, w.end()), w[2], w[1],
      w[0], inputTransform(call, "input", dims),
      inputTransform(call, "kernel", dims), outputTransform(call, dims));
}

void convolution(Call &call) {
  call.output("out",
              poplin::convolution(call.graph(), call.tensor("x"),
                                  call.tensor("w"), paramsOf(call), false,
                                  call.program(), {}, call.options()));
}

void convolutionWithOutput(Call &call) {
  const auto params = paramsOf(call);
  const auto out = poplin::createConvOutput(call.graph(), params, "out");
  poplin::convolutionWithOutput(call.graph(), call.tensor("x"),
                                call.tensor("w"), out, params, false,
                                call.program(), {}, call.options());
  call.output("out", out);
}

// The same with weights turned round before, and turned round on the way.
void turnedConvolution(Call &call) {
  const auto params = paramsOf(call);
  auto turnedShape = call.tensor("w").shape();
  std::swap(turnedShape[1], turnedShape[2]);
  const auto turned = call.graph().addVariable(call.tensor("w").elementType(),
                                               turnedShape, "turned");
  call.graph().setTileMapping(turned, 0);
  poplin::weightsTransposeChansFlipXY(call.graph(), call.tensor("w"), turned,
                                      call.program());
  call.output("out", poplin::convolution(call.graph(), call.tensor("x"), turned,
                                         params, true, call.program(), {},
                                         call.options()));
}

void gradients(Call &call) {
  const auto params = paramsOf(call);
  call.output("dx", poplin::convolution(call.graph(), call.tensor("dy"),
                                        call.tensor("w"),
                                        poplin::getGradientParams(params), true,
                                        call.program(), {}, call.options()));
  call.output("dw", poplin::calculateWeightDeltas(
                        call.graph(), call.tensor("dy"), call.tensor("x"),
                        params, call.program(), {}, call.options()));
}

// The weights' gradient as the convolution that getWeightUpdateParams gives:
// [groups, outChans, inChans, field...] from [inChans, groups * outChans, ...].
void weightUpdateParams(Call &call) {
  const auto params = paramsOf(call);
  const auto groups = params.getNumConvGroups();
  const auto x =
      call.tensor("x")
          .reshapePartial(1, 2, {groups, params.getNumInputChansPerConvGroup()})
          .dimShufflePartial({0, 1, 2}, {2, 1, 0})
          .flatten(1, 3);
  const auto dy =
      call.tensor("dy")
          .reshapePartial(1, 2,
                          {groups, params.getNumOutputChansPerConvGroup()})
          .dimShufflePartial({0, 1, 2}, {2, 0, 1});
  const auto dw = poplin::convolution(call.graph(), x, dy,
                                      poplin::getWeightUpdateParams(params),
                                      false, call.program());
  call.output(
      "dw",
      dw.reshapePartial(1, 2, {groups, params.getNumOutputChansPerConvGroup()})
          .dimShufflePartial({0, 1, 2}, {2, 0, 1}));
}

void updates(Call &call) {
  const auto params = paramsOf(call);
  auto &graph = call.graph();
  const auto &w = call.tensor("w");
  const auto &bias = call.tensor("bias");
  const auto &dy = call.tensor("dy");
  if (call.hasTensor("scale")) {
    poplin::convolutionWeightUpdate(graph, dy, w, call.tensor("x"), params,
                                    call.tensor("scale"), call.program());
    poplin::convolutionBiasUpdate(graph, dy, bias, call.tensor("scale"), {},
                                  call.program());
  } else {
    const auto scale = call.get<float>("scale");
    poplin::convolutionWeightUpdate(graph, dy, w, call.tensor("x"), params,
                                    scale, call.program());
    poplin::convolutionBiasUpdate(graph, dy, bias, scale, {}, call.program());
  }
  call.output("w", w);
  call.output("bias", bias);
}

void addBias(Call &call) {
  poplin::addCodelets(call.graph());
  poplin::addBias(call.graph(), call.tensor("x"), call.tensor("bias"),
                  call.program());
  call.output("out", call.tensor("x"));
}

void fullyConnectedWeightTranspose(Call &call) {
  const auto shape = call.tensor("in").shape();
  const auto groups = call.get<std::size_t>("groups");
  const ConvParams params(call.tensor("in").elementType(), shape[0],
                          {shape[1] / groups}, {1}, shape[2], 1, groups);
  call.output("out",
              poplin::fullyConnectedWeightTranspose(
                  call.graph(), call.tensor("in"), params, call.program()));
}

} // namespace

void addPoplinConvolution(Operations &operations) {
  operations["poplin.convolution"] = convolution;
  operations["poplin.convolutionWithOutput"] = convolutionWithOutput;
  operations["poplin.turnedConvolution"] = turnedConvolution;
  operations["poplin.convolutionGradients"] = gradients;
  operations["poplin.weightUpdateParams"] = weightUpdateParams;
  operations["poplin.convolutionUpdates"] = updates;
  operations["poplin.addBias"] = addBias;
  operations["poplin.fullyConnectedWeightTranspose"] =
      fullyConnectedWeightTranspose;
}

} // namespace conformance
