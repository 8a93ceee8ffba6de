// "lstm", "lstmGrad" and "lstmWeightGrad". With gates f, i, g, o:
// c = f * c + i * g, h = o * activation(c). Steps beyond a sample's own number
// leave its state and give 0.
#include "Kinds.hpp"

#include "RecurrentReference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace kernels {

namespace {

std::vector<TensorType> inferForward(const Attributes &attributes,
                                     std::span<const TensorType> inputs) {
  const ForwardOperands at(attributes, true);
  requireInputCount("lstm", inputs, at.count);
  const auto &x = inputs[at.x];
  requireFloating("lstm", "x", x);
  requireRank("lstm", "x", x, 3);
  requireRank("lstm", "h", inputs[at.h], 2);
  const auto out = inputs[at.h].shape[1];
  const Shape state{x.shape[1], out};
  const auto check = [&](std::string_view name, std::size_t operand,
                         const Shape &shape) {
    requireType("lstm", name, inputs[operand], {x.type});
    requireShape("lstm", name, inputs[operand], shape);
  };
  check("h", at.h, state);
  check("c", at.c, state);
  check("inputWeights", at.inputWeights, {lstmGates, x.shape[2], out});
  check("outputWeights", at.outputWeights, {lstmGates, out, out});
  check("biases", at.biases, {lstmGates, out});
  if (at.steps != OperandOrder::absent) {
    requireSteps("lstm", inputs[at.steps], x.shape[1]);
  }
  gatePositions("lstm", attributes, lstmGates);
  gateFunction("lstm", attributes, "activation");
  gateFunction("lstm", attributes, "recurrentActivation");
  std::vector<TensorType> outputs{{x.type, {x.shape[0], x.shape[1], out}},
                                  {x.type, state},
                                  {x.type, state}};
  if (isGiven(attributes, "saves")) {
    outputs.push_back({x.type, {x.shape[0], x.shape[1], LstmPartCount, out}});
  }
  return outputs;
}

std::vector<TensorType> inferGrad(const Attributes &attributes,
                                  std::span<const TensorType> inputs) {
  const BackwardOperands at(attributes, true);
  requireInputCount("lstmGrad", inputs, at.count);
  const auto &saved = inputs[at.saved];
  requireFloating("lstmGrad", "saved", saved);
  requireRank("lstmGrad", "saved", saved, 4);
  requireRank("lstmGrad", "inputWeights", inputs[at.inputWeights], 3);
  const auto steps = saved.shape[0], batch = saved.shape[1],
             out = saved.shape[3], in = inputs[at.inputWeights].shape[1];
  const Shape state{batch, out};
  const auto check = [&](std::string_view name, std::size_t operand,
                         const Shape &shape) {
    if (operand != OperandOrder::absent) {
      requireType("lstmGrad", name, inputs[operand], {saved.type});
      requireShape("lstmGrad", name, inputs[operand], shape);
    }
  };
  check("saved", at.saved, {steps, batch, LstmPartCount, out});
  check("inputWeights", at.inputWeights, {lstmGates, in, out});
  check("outputWeights", at.outputWeights, {lstmGates, out, out});
  check("h", at.h, state);
  check("c", at.c, state);
  check("dy", at.dy, {steps, batch, out});
  check("dh", at.dh, state);
  check("dc", at.dc, state);
  if (at.steps != OperandOrder::absent) {
    requireSteps("lstmGrad", inputs[at.steps], batch);
  }
  gatePositions("lstmGrad", attributes, lstmGates);
  std::vector<TensorType> outputs{
      saved, {saved.type, state}, {saved.type, state}};
  if (isGiven(attributes, "inputGrad")) {
    outputs.push_back({saved.type, {steps, batch, in}});
  }
  return outputs;
}

std::vector<TensorType> inferWeightGrad(const Attributes &,
                                        std::span<const TensorType> inputs) {
  requireInputCount("lstmWeightGrad", inputs, 2);
  const auto &x = inputs[0];
  requireFloating("lstmWeightGrad", "x", x);
  requireRank("lstmWeightGrad", "x", x, 3);
  requireRank("lstmWeightGrad", "dGates", inputs[1], 4);
  const auto out = inputs[1].shape[3];
  requireShape("lstmWeightGrad", "dGates", inputs[1],
               {x.shape[0], x.shape[1], LstmPartCount, out});
  return {{x.type, {lstmGates, x.shape[2], out}},
          {x.type, {lstmGates, out, out}},
          {x.type, {lstmGates, out}}};
}

using Row = std::vector<double>;

void forwardSample(const ReferenceCall &call, std::int64_t b) {
  const auto &attributes = call.signature.attributes;
  const ForwardOperands at(attributes, true);
  const View x = inputView(call, at.x);
  const View wIn = inputView(call, at.inputWeights);
  const View wOut = inputView(call, at.outputWeights);
  const View bias = inputView(call, at.biases);
  const auto out = wOut.extent(2);
  const auto &positions = gatePositions("lstm", attributes, lstmGates);
  const auto activation = gateFunction("lstm", attributes, "activation");
  const auto recurrent =
      gateFunction("lstm", attributes, "recurrentActivation");
  const bool saves = isGiven(attributes, "saves");
  Row h = rowOrZeros(call, at.h, b, out);
  Row c = rowOrZeros(call, at.c, b, out);
  const auto length = stepsOf(call, at.steps, b, x.extent(0));
  for (std::int64_t t = 0; t < x.extent(0); ++t) {
    const Row before = h;
    for (std::int64_t j = 0; j < out; ++j) {
      std::array<double, lstmGates> parts{};
      double state = 0;
      const auto unit = static_cast<std::size_t>(j);
      for (std::size_t gate = 0; gate < lstmGates && t < length; ++gate) {
        const auto g = positions[gate];
        double sum = bias(g, j);
        for (std::int64_t k = 0; k < x.extent(2); ++k) {
          sum += x(t, b, k) * wIn(g, k, j);
        }
        for (std::int64_t k = 0; k < out; ++k) {
          sum += before[static_cast<std::size_t>(k)] * wOut(g, k, j);
        }
        parts[gate] =
            applyGate(gate == LstmCandidate ? activation : recurrent, sum);
      }
      if (t < length) {
        c[unit] = parts[LstmForget] * c[unit] +
                  parts[LstmInput] * parts[LstmCandidate];
        h[unit] = parts[LstmOutput] * applyGate(activation, c[unit]);
        state = c[unit];
      }
      outputView(call, 0).set(t < length ? h[unit] : 0, t, b, j);
      if (saves) {
        const View saved = outputView(call, 3);
        for (std::size_t gate = 0; gate < lstmGates; ++gate) {
          saved.set(parts[gate], t, b, positions[gate], j);
        }
        saved.set(state, t, b, LstmState, j);
      }
    }
  }
  for (std::int64_t j = 0; j < out; ++j) {
    outputView(call, 1).set(h[static_cast<std::size_t>(j)], b, j);
    outputView(call, 2).set(c[static_cast<std::size_t>(j)], b, j);
  }
}

void referenceForward(const ReferenceCall &call) {
  for (std::int64_t b = 0; b < call.signature.inputs[0].shape[1]; ++b) {
    forwardSample(call, b);
  }
}

// The gradients of one unit's gates before their activations; `dc` becomes that
// of the state before.
std::array<double, lstmGates>
gateGradients(const std::array<double, lstmGates> &gates, double activated,
              double stateBefore, double dh, double &dc,
              GateFunction activation, GateFunction recurrent) {
  dc += dh * gates[LstmOutput] * gateSlope(activation, activated);
  const std::array<double, lstmGates> byGate{
      dc * stateBefore, dc * gates[LstmCandidate], dc * gates[LstmInput],
      dh * activated};
  dc *= gates[LstmForget];
  std::array<double, lstmGates> result;
  for (std::size_t gate = 0; gate < lstmGates; ++gate) {
    result[gate] =
        byGate[gate] *
        gateSlope(gate == LstmCandidate ? activation : recurrent, gates[gate]);
  }
  return result;
}

void backwardSample(const ReferenceCall &call, std::int64_t b) {
  const auto &attributes = call.signature.attributes;
  const BackwardOperands at(attributes, true);
  const View saved = inputView(call, at.saved);
  const View dGates = outputView(call, 0);
  const auto &positions = gatePositions("lstmGrad", attributes, lstmGates);
  const auto activation = gateFunction("lstmGrad", attributes, "activation");
  const auto recurrent =
      gateFunction("lstmGrad", attributes, "recurrentActivation");
  const auto steps = saved.extent(0), out = saved.extent(3);
  Row dh = rowOrZeros(call, at.dh, b, out);
  Row dc = rowOrZeros(call, at.dc, b, out);
  const auto length = stepsOf(call, at.steps, b, steps);
  const auto activatedAt = [&](std::int64_t t, std::int64_t j) {
    return applyGate(activation, saved(t, b, LstmState, j));
  };
  for (std::int64_t t = steps - 1; t >= 0; --t) {
    for (std::int64_t j = 0; j < out; ++j) {
      const auto unit = static_cast<std::size_t>(j);
      std::array<double, lstmGates> gradients{};
      double before = 0; // the output
      if (t < length) {
        std::array<double, lstmGates> gates;
        for (std::size_t gate = 0; gate < lstmGates; ++gate) {
          gates[gate] = saved(t, b, positions[gate], j);
        }
        const double dy =
            at.dy == OperandOrder::absent ? 0 : inputView(call, at.dy)(t, b, j);
        const double stateBefore =
            t > 0 ? saved(t - 1, b, LstmState, j) : inputView(call, at.c)(b, j);
        gradients =
            gateGradients(gates, activatedAt(t, j), stateBefore, dh[unit] + dy,
                          dc[unit], activation, recurrent);
        before = t > 0 ? saved(t - 1, b, positions[LstmOutput], j) *
                             activatedAt(t - 1, j)
                       : inputView(call, at.h)(b, j);
      }
      for (std::size_t gate = 0; gate < lstmGates; ++gate) {
        dGates.set(gradients[gate], t, b, positions[gate], j);
      }
      dGates.set(before, t, b, LstmBefore, j);
    }
    for (std::int64_t k = 0; k < out && t < length; ++k) {
      dh[static_cast<std::size_t>(k)] =
          throughWeights(dGates, inputView(call, at.outputWeights), t, b, k);
    }
    if (isGiven(attributes, "inputGrad")) {
      const View wIn = inputView(call, at.inputWeights);
      for (std::int64_t k = 0; k < wIn.extent(1); ++k) {
        outputView(call, 3).set(throughWeights(dGates, wIn, t, b, k), t, b, k);
      }
    }
  }
  for (std::int64_t j = 0; j < out; ++j) {
    outputView(call, 1).set(dh[static_cast<std::size_t>(j)], b, j);
    outputView(call, 2).set(dc[static_cast<std::size_t>(j)], b, j);
  }
}

void referenceGrad(const ReferenceCall &call) {
  for (std::int64_t b = 0; b < call.signature.inputs[0].shape[1]; ++b) {
    backwardSample(call, b);
  }
}

void referenceWeightGrad(const ReferenceCall &call) {
  const View x = inputView(call, 0);
  const View dGates = inputView(call, 1);
  const auto sumOver = [&](const auto &term) {
    return sumOverRows(x.extent(0), x.extent(1), term);
  };
  for (std::int64_t g = 0; g < lstmGates; ++g) {
    for (std::int64_t j = 0; j < dGates.extent(3); ++j) {
      for (std::int64_t k = 0; k < x.extent(2); ++k) {
        outputView(call, 0).set(sumOver([&](auto t, auto b) {
                                  return x(t, b, k) * dGates(t, b, g, j);
                                }),
                                g, k, j);
      }
      for (std::int64_t k = 0; k < dGates.extent(3); ++k) {
        outputView(call, 1).set(sumOver([&](auto t, auto b) {
                                  return dGates(t, b, LstmBefore, k) *
                                         dGates(t, b, g, j);
                                }),
                                g, k, j);
      }
      outputView(call, 2).set(
          sumOver([&](auto t, auto b) { return dGates(t, b, g, j); }), g, j);
    }
  }
}

} // namespace

const Kind &lstmKind() {
  static const Kind kind{"lstm", inferForward, referenceForward, lstmKernels()};
  return kind;
}

const Kind &lstmGradKind() {
  static constexpr InPlacePair inPlace[] = {{0, 0}}; // dGates in saved
  static const Kind kind{"lstmGrad", inferGrad, referenceGrad,
                         lstmGradKernels(), inPlace};
  return kind;
}

const Kind &lstmWeightGradKind() {
  static const Kind kind{"lstmWeightGrad", inferWeightGrad, referenceWeightGrad,
                         lstmWeightGradKernels()};
  return kind;
}

} // namespace kernels
