// "gru". With gates r, u and candidate g:
// h = u * h + (1 - u) * g, where g sees r * h through its weights or, with
// resetAfter, h through its weights times r. Attention a makes u into
// (1 - a) * u. Steps beyond a sample's own number leave its state and give 0.
#include "Kinds.hpp"

#include "RecurrentReference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"

#include <array>
#include <vector>

namespace kernels {

namespace {

using Row = std::vector<double>;

std::vector<TensorType> inferForward(const Attributes &attributes,
                                     std::span<const TensorType> inputs) {
  const ForwardOperands at(attributes, false);
  requireInputCount("gru", inputs, at.count);
  const auto &x = inputs[at.x];
  requireFloating("gru", "x", x);
  requireRank("gru", "x", x, 3);
  requireRank("gru", "h", inputs[at.h], 2);
  const auto batch = x.shape[1], out = inputs[at.h].shape[1];
  const auto check = [&](std::string_view name, std::size_t operand,
                         const Shape &shape) {
    if (operand != OperandOrder::absent) {
      requireType("gru", name, inputs[operand], {x.type});
      requireShape("gru", name, inputs[operand], shape);
    }
  };
  check("h", at.h, {batch, out});
  check("inputWeights", at.inputWeights, {gruGates, x.shape[2], out});
  check("outputWeights", at.outputWeights, {gruGates, out, out});
  check("biases", at.biases, gruBiasShape(attributes, out));
  check("attention", at.attention, {batch, x.shape[0]});
  if (at.steps != OperandOrder::absent) {
    requireSteps("gru", inputs[at.steps], batch);
  }
  gatePositions("gru", attributes, gruGates);
  gateFunction("gru", attributes, "activation");
  gateFunction("gru", attributes, "recurrentActivation");
  std::vector<TensorType> outputs{{x.type, {x.shape[0], batch, out}},
                                  {x.type, {batch, out}}};
  if (isGiven(attributes, "saves")) {
    outputs.push_back({x.type, {x.shape[0], batch, GruPartCount, out}});
  }
  return outputs;
}

// One sample's walk forward through time.
class ForwardSample {
public:
  ForwardSample(const ReferenceCall &call, std::int64_t sample)
      : call_(call), attributes_(call.signature.attributes),
        at_(attributes_, false), b_(sample), x_(inputView(call, at_.x)),
        wIn_(inputView(call, at_.inputWeights)),
        wOut_(inputView(call, at_.outputWeights)),
        positions_(gatePositions("gru", attributes_, gruGates)),
        activation_(gateFunction("gru", attributes_, "activation")),
        recurrent_(gateFunction("gru", attributes_, "recurrentActivation")),
        resetsAfter_(isGiven(attributes_, "resetAfter")),
        h_(rowOrZeros(call, at_.h, sample, wOut_.extent(2))) {}

  void run() {
    const auto length = stepsOf(call_, at_.steps, b_, x_.extent(0));
    for (std::int64_t t = 0; t < x_.extent(0); ++t) {
      std::vector<std::array<double, GruPartCount>> parts(h_.size());
      if (t < length) {
        step(t, parts);
      }
      for (std::int64_t j = 0; j < wOut_.extent(2); ++j) {
        const auto unit = static_cast<std::size_t>(j);
        outputView(call_, 0).set(t < length ? h_[unit] : 0, t, b_, j);
        for (std::int64_t part = 0;
             part < GruPartCount && isGiven(attributes_, "saves"); ++part) {
          outputView(call_, 2).set(parts[unit][static_cast<std::size_t>(part)],
                                   t, b_, part, j);
        }
      }
    }
    for (std::int64_t j = 0; j < wOut_.extent(2); ++j) {
      outputView(call_, 1).set(h_[static_cast<std::size_t>(j)], b_, j);
    }
  }

private:
  double bias(std::int64_t gate, std::int64_t which, std::int64_t j) const {
    const View biases = inputView(call_, at_.biases);
    return resetsAfter_ ? biases(gate, which, j)
                        : (which == 0 ? biases(gate, j) : 0);
  }
  double fromInput(std::int64_t t, std::int64_t gate, std::int64_t j) const {
    double sum = bias(gate, 0, j);
    for (std::int64_t k = 0; k < x_.extent(2); ++k) {
      sum += x_(t, b_, k) * wIn_(gate, k, j);
    }
    return sum;
  }
  double fromState(const Row &state, std::int64_t gate, std::int64_t j) const {
    double sum = bias(gate, 1, j);
    for (std::int64_t k = 0; k < wOut_.extent(1); ++k) {
      sum += state[static_cast<std::size_t>(k)] * wOut_(gate, k, j);
    }
    return sum;
  }

  void step(std::int64_t t,
            std::vector<std::array<double, GruPartCount>> &parts) {
    const auto out = wOut_.extent(2);
    Row product(h_.size());
    for (std::int64_t j = 0; j < out; ++j) {
      const auto unit = static_cast<std::size_t>(j);
      for (const std::size_t gate : {GruReset, GruUpdate}) {
        const auto g = positions_[gate];
        parts[unit][gate] =
            applyGate(recurrent_, fromInput(t, g, j) + fromState(h_, g, j));
      }
      product[unit] = parts[unit][GruReset] * h_[unit];
    }
    Row next(h_.size());
    for (std::int64_t j = 0; j < out; ++j) {
      const auto unit = static_cast<std::size_t>(j);
      const auto g = positions_[GruCandidate];
      const double through = fromState(resetsAfter_ ? h_ : product, g, j);
      const double state =
          resetsAfter_ ? parts[unit][GruReset] * through : through;
      const double candidate =
          applyGate(activation_, fromInput(t, g, j) + state);
      const double attention = at_.attention == OperandOrder::absent
                                   ? 0
                                   : inputView(call_, at_.attention)(b_, t);
      const double update = (1 - attention) * parts[unit][GruUpdate];
      next[unit] = update * h_[unit] + (1 - update) * candidate;
      parts[unit][GruCandidate] = candidate;
      parts[unit][GruProduct] = resetsAfter_ ? through : product[unit];
      parts[unit][GruBefore] = h_[unit];
    }
    h_ = next;
  }

  const ReferenceCall &call_;
  const Attributes &attributes_;
  ForwardOperands at_;
  std::int64_t b_;
  View x_, wIn_, wOut_;
  const Attributes::Ints &positions_;
  GateFunction activation_, recurrent_;
  bool resetsAfter_;
  Row h_;
};

void referenceForward(const ReferenceCall &call) {
  for (std::int64_t b = 0; b < call.signature.inputs[0].shape[1]; ++b) {
    ForwardSample(call, b).run();
  }
}

} // namespace

const Kind &gruKind() {
  static const Kind kind{"gru", inferForward, referenceForward, gruKernels()};
  return kind;
}

} // namespace kernels
