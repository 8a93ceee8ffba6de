// "gruGrad" and "gruWeightGrad": back through a "gru" by what it saved.
#include "Kinds.hpp"

#include "RecurrentReference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"

#include <vector>

namespace kernels {

namespace {

using Row = std::vector<double>;

std::vector<TensorType> inferGrad(const Attributes &attributes,
                                  std::span<const TensorType> inputs) {
  const BackwardOperands at(attributes, false);
  requireInputCount("gruGrad", inputs, at.count);
  const auto &saved = inputs[at.saved];
  requireFloating("gruGrad", "saved", saved);
  requireRank("gruGrad", "saved", saved, 4);
  requireRank("gruGrad", "inputWeights", inputs[at.inputWeights], 3);
  const auto steps = saved.shape[0], batch = saved.shape[1],
             out = saved.shape[3], in = inputs[at.inputWeights].shape[1];
  const auto check = [&](std::string_view name, std::size_t operand,
                         const Shape &shape) {
    if (operand != OperandOrder::absent) {
      requireType("gruGrad", name, inputs[operand], {saved.type});
      requireShape("gruGrad", name, inputs[operand], shape);
    }
  };
  check("saved", at.saved, {steps, batch, GruPartCount, out});
  check("inputWeights", at.inputWeights, {gruGates, in, out});
  check("outputWeights", at.outputWeights, {gruGates, out, out});
  check("dy", at.dy, {steps, batch, out});
  check("dh", at.dh, {batch, out});
  check("attention", at.attention, {batch, steps});
  if (at.steps != OperandOrder::absent) {
    requireSteps("gruGrad", inputs[at.steps], batch);
  }
  gatePositions("gruGrad", attributes, gruGates);
  std::vector<TensorType> outputs{{saved.type, {steps, batch, gruGates, out}},
                                  {saved.type, {batch, out}}};
  if (at.attention != OperandOrder::absent) {
    outputs.push_back({saved.type, {batch, steps}});
  }
  if (isGiven(attributes, "inputGrad")) {
    outputs.push_back({saved.type, {steps, batch, in}});
  }
  return outputs;
}

std::vector<TensorType> inferWeightGrad(const Attributes &attributes,
                                        std::span<const TensorType> inputs) {
  requireInputCount("gruWeightGrad", inputs, 3);
  const auto &x = inputs[0];
  requireFloating("gruWeightGrad", "x", x);
  requireRank("gruWeightGrad", "x", x, 3);
  requireRank("gruWeightGrad", "saved", inputs[1], 4);
  const auto out = inputs[1].shape[3];
  requireShape("gruWeightGrad", "saved", inputs[1],
               {x.shape[0], x.shape[1], GruPartCount, out});
  requireShape("gruWeightGrad", "dGates", inputs[2],
               {x.shape[0], x.shape[1], gruGates, out});
  gatePositions("gruWeightGrad", attributes, gruGates);
  return {{x.type, {gruGates, x.shape[2], out}},
          {x.type, {gruGates, out, out}},
          {x.type, gruBiasShape(attributes, out)}};
}

// One sample's walk back through time.
class BackwardSample {
public:
  BackwardSample(const ReferenceCall &call, std::int64_t sample)
      : call_(call), attributes_(call.signature.attributes),
        at_(attributes_, false), b_(sample), saved_(inputView(call, at_.saved)),
        wOut_(inputView(call, at_.outputWeights)), dGates_(outputView(call, 0)),
        positions_(gatePositions("gruGrad", attributes_, gruGates)),
        activation_(gateFunction("gruGrad", attributes_, "activation")),
        recurrent_(gateFunction("gruGrad", attributes_, "recurrentActivation")),
        resetsAfter_(isGiven(attributes_, "resetAfter")),
        dh_(rowOrZeros(call, at_.dh, sample, saved_.extent(3))) {}

  void run() {
    const auto steps = saved_.extent(0), out = saved_.extent(3);
    const auto length = stepsOf(call_, at_.steps, b_, steps);
    const bool attends = at_.attention != OperandOrder::absent;
    for (std::int64_t t = steps - 1; t >= 0; --t) {
      for (std::int64_t g = 0; g < gruGates; ++g) {
        for (std::int64_t j = 0; j < out; ++j) {
          dGates_.set(0, t, b_, g, j);
        }
      }
      const double dAttention = t < length ? step(t) : 0;
      if (attends) {
        outputView(call_, 2).set(dAttention, b_, t);
      }
      if (isGiven(attributes_, "inputGrad")) {
        const View wIn = inputView(call_, at_.inputWeights);
        const View dx = outputView(call_, attends ? 3 : 2);
        for (std::int64_t k = 0; k < wIn.extent(1); ++k) {
          dx.set(throughWeights(dGates_, wIn, t, b_, k), t, b_, k);
        }
      }
    }
    for (std::int64_t j = 0; j < out; ++j) {
      outputView(call_, 1).set(dh_[static_cast<std::size_t>(j)], b_, j);
    }
  }

private:
  double through(const Row &gradient, std::size_t gate, std::int64_t k) const {
    double sum = 0;
    for (std::int64_t j = 0; j < wOut_.extent(2); ++j) {
      sum +=
          gradient[static_cast<std::size_t>(j)] * wOut_(positions_[gate], k, j);
    }
    return sum;
  }

  // Returns the gradient by the attention.
  double step(std::int64_t t) {
    const auto out = saved_.extent(3);
    const double attention = at_.attention == OperandOrder::absent
                                 ? 0
                                 : inputView(call_, at_.attention)(b_, t);
    Row dUpdate(dh_.size()), dCandidate(dh_.size()), dReset(dh_.size()),
        toState(dh_.size()), before(dh_.size());
    double dAttention = 0;
    for (std::int64_t j = 0; j < out; ++j) {
      const auto unit = static_cast<std::size_t>(j);
      const auto part = [&](std::int64_t p) { return saved_(t, b_, p, j); };
      const double dy = at_.dy == OperandOrder::absent
                            ? 0
                            : inputView(call_, at_.dy)(t, b_, j);
      const double dh = dh_[unit] + dy;
      const double update = (1 - attention) * part(GruUpdate);
      const double byUpdate = dh * (part(GruBefore) - part(GruCandidate));
      dAttention -= byUpdate * part(GruUpdate);
      before[unit] = dh * update;
      dUpdate[unit] =
          byUpdate * (1 - attention) * gateSlope(recurrent_, part(GruUpdate));
      dCandidate[unit] =
          dh * (1 - update) * gateSlope(activation_, part(GruCandidate));
      toState[unit] =
          resetsAfter_ ? dCandidate[unit] * part(GruReset) : dCandidate[unit];
    }
    for (std::int64_t k = 0; k < out; ++k) {
      const auto unit = static_cast<std::size_t>(k);
      const double reset = saved_(t, b_, GruReset, k);
      const double back = through(toState, GruCandidate, k);
      const double byReset =
          resetsAfter_ ? dCandidate[unit] * saved_(t, b_, GruProduct, k)
                       : back * saved_(t, b_, GruBefore, k);
      dReset[unit] = byReset * gateSlope(recurrent_, reset);
      before[unit] += resetsAfter_ ? back : back * reset;
    }
    for (std::int64_t k = 0; k < out; ++k) {
      const auto unit = static_cast<std::size_t>(k);
      dh_[unit] = before[unit] + through(dReset, GruReset, k) +
                  through(dUpdate, GruUpdate, k);
      dGates_.set(dReset[unit], t, b_, positions_[GruReset], k);
      dGates_.set(dUpdate[unit], t, b_, positions_[GruUpdate], k);
      dGates_.set(dCandidate[unit], t, b_, positions_[GruCandidate], k);
    }
    return dAttention;
  }

  const ReferenceCall &call_;
  const Attributes &attributes_;
  BackwardOperands at_;
  std::int64_t b_;
  View saved_, wOut_, dGates_;
  const Attributes::Ints &positions_;
  GateFunction activation_, recurrent_;
  bool resetsAfter_;
  Row dh_;
};

void referenceGrad(const ReferenceCall &call) {
  for (std::int64_t b = 0; b < call.signature.inputs[0].shape[1]; ++b) {
    BackwardSample(call, b).run();
  }
}

void referenceWeightGrad(const ReferenceCall &call) {
  const View x = inputView(call, 0);
  const View saved = inputView(call, 1);
  const View dGates = inputView(call, 2);
  const auto &attributes = call.signature.attributes;
  const bool resetsAfter = isGiven(attributes, "resetAfter");
  const auto candidate =
      gatePositions("gruWeightGrad", attributes, gruGates)[GruCandidate];
  const auto sumOver = [&](const auto &term) {
    return sumOverRows(x.extent(0), x.extent(1), term);
  };
  for (std::int64_t g = 0; g < gruGates; ++g) {
    // What the output weights of the gate saw, and the gradient behind them.
    const auto seen = !resetsAfter && g == candidate ? GruProduct : GruBefore;
    for (std::int64_t j = 0; j < saved.extent(3); ++j) {
      const auto behind = [&](auto t, auto b) {
        const double d = dGates(t, b, g, j);
        return resetsAfter && g == candidate ? d * saved(t, b, GruReset, j) : d;
      };
      for (std::int64_t k = 0; k < x.extent(2); ++k) {
        outputView(call, 0).set(sumOver([&](auto t, auto b) {
                                  return x(t, b, k) * dGates(t, b, g, j);
                                }),
                                g, k, j);
      }
      for (std::int64_t k = 0; k < saved.extent(3); ++k) {
        outputView(call, 1).set(sumOver([&](auto t, auto b) {
                                  return saved(t, b, seen, k) * behind(t, b);
                                }),
                                g, k, j);
      }
      const double direct =
          sumOver([&](auto t, auto b) { return dGates(t, b, g, j); });
      if (resetsAfter) {
        outputView(call, 2).set(direct, g, 0, j);
        outputView(call, 2).set(sumOver(behind), g, 1, j);
      } else {
        outputView(call, 2).set(direct, g, j);
      }
    }
  }
}

} // namespace

const Kind &gruGradKind() {
  static const Kind kind{"gruGrad", inferGrad, referenceGrad, gruGradKernels()};
  return kind;
}

const Kind &gruWeightGradKind() {
  static const Kind kind{"gruWeightGrad", inferWeightGrad, referenceWeightGrad,
                         gruWeightGradKernels()};
  return kind;
}

} // namespace kernels
