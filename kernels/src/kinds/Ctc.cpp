// "ctcLoss": minus the logarithm of the probability of the labels under
// connectionist temporal classification, and its gradient.
#include "Kinds.hpp"

#include "Reference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace kernels {

namespace {

constexpr double never = -std::numeric_limits<double>::infinity();

void requireInteger(std::string_view operand, const TensorType &tensor,
                    const Shape &shape) {
  requireType("ctcLoss", operand, tensor,
              {DataType::Int, DataType::UnsignedInt});
  requireShape("ctcLoss", operand, tensor, shape);
}

std::vector<TensorType> infer(const Attributes &attributes,
                              std::span<const TensorType> inputs) {
  requireInputCount("ctcLoss", inputs, 4);
  requireFloating("ctcLoss", "logProbs", inputs[0]);
  requireRank("ctcLoss", "logProbs", inputs[0], 3);
  requireRank("ctcLoss", "labels", inputs[1], 2);
  const auto batch = inputs[0].shape[1];
  requireInteger("labels", inputs[1], {batch, inputs[1].shape[1]});
  requireInteger("dataLengths", inputs[2], {batch});
  requireInteger("labelLengths", inputs[3], {batch});
  const auto blank = attributes.getInt("blank");
  require(blank >= 0 && blank < inputs[0].shape[2],
          "[ctcLoss] blank is {}; it must be one of the {} classes", blank,
          inputs[0].shape[2]);
  const auto type =
      attributes.getInt("isHalf") != 0 ? DataType::Half : DataType::Float;
  std::vector<TensorType> outputs{{type, {batch}}};
  if (attributes.getInt("gradient") != 0) {
    outputs.push_back({type, inputs[0].shape});
  }
  return outputs;
}

double logAdd(double a, double b) {
  const double top = std::max(a, b);
  return top == never ? never
                      : top + std::log(std::exp(a - top) + std::exp(b - top));
}

using Table = std::vector<std::vector<double>>;

// The labels with blanks around them, and the probabilities of ways to be at
// each position at each step: `before`, up to and including the step, and
// `after` it.
struct Lattice {
  std::vector<std::int64_t> symbols;
  Table before, after;
  double total = never;
};

bool maySkip(const Lattice &lattice, std::size_t to) {
  return to >= 2 && lattice.symbols[to] != lattice.symbols[to - 2];
}

Lattice latticeOf(const ReferenceCall &call, std::int64_t b) {
  const View logProbs = inputView(call, 0);
  const auto blank = call.signature.attributes.getInt("blank");
  const auto steps = static_cast<std::size_t>(inputView(call, 2)(b));
  const auto length = static_cast<std::int64_t>(inputView(call, 3)(b));
  Lattice lattice;
  lattice.symbols.push_back(blank);
  for (std::int64_t i = 0; i < length; ++i) {
    lattice.symbols.push_back(
        static_cast<std::int64_t>(inputView(call, 1)(b, i)));
    lattice.symbols.push_back(blank);
  }
  const auto size = lattice.symbols.size();
  const auto at = [&](std::size_t t, std::size_t s) {
    return logProbs(static_cast<std::int64_t>(t), b, lattice.symbols[s]);
  };
  lattice.before.assign(steps, std::vector<double>(size, never));
  lattice.after.assign(steps, std::vector<double>(size, never));
  for (std::size_t t = 0; t < steps; ++t) {
    for (std::size_t s = 0; s < size; ++s) {
      double sum = never;
      if (t == 0) {
        sum = s < 2 ? 0 : never;
      } else {
        const auto &last = lattice.before[t - 1];
        sum = logAdd(last[s], s > 0 ? last[s - 1] : never);
        sum = logAdd(sum, maySkip(lattice, s) ? last[s - 2] : never);
      }
      lattice.before[t][s] = sum + at(t, s);
    }
  }
  for (std::size_t t = steps; t-- > 0;) {
    for (std::size_t s = 0; s < size; ++s) {
      if (t + 1 == steps) {
        lattice.after[t][s] = s + 2 >= size ? 0 : never;
        continue;
      }
      const auto next = [&](std::size_t to) {
        return to < size ? lattice.after[t + 1][to] + at(t + 1, to) : never;
      };
      const double sum = logAdd(next(s), next(s + 1));
      const bool skips = s + 2 < size && maySkip(lattice, s + 2);
      lattice.after[t][s] = logAdd(sum, skips ? next(s + 2) : never);
    }
  }
  for (std::size_t s = 0; s < size && steps > 0; ++s) {
    lattice.total =
        logAdd(lattice.total, lattice.before[0][s] + lattice.after[0][s]);
  }
  if (steps == 0 && length == 0) {
    lattice.total = 0;
  }
  return lattice;
}

void writeGradient(const ReferenceCall &call, const Lattice &lattice,
                   std::int64_t b) {
  const View logProbs = inputView(call, 0);
  const View gradient = outputView(call, 1);
  const auto &attributes = call.signature.attributes;
  const bool isLost =
      lattice.total == never && attributes.getInt("zeroInfinity") != 0;
  const bool isBeforeSoftmax = attributes.getInt("includeSoftmax") != 0;
  for (std::int64_t t = 0; t < logProbs.extent(0); ++t) {
    const auto step = static_cast<std::size_t>(t);
    const bool isLive = step < lattice.before.size() && !isLost;
    std::vector<double> occupied(static_cast<std::size_t>(logProbs.extent(2)));
    for (std::size_t s = 0; isLive && s < lattice.symbols.size(); ++s) {
      occupied[static_cast<std::size_t>(lattice.symbols[s])] += std::exp(
          lattice.before[step][s] + lattice.after[step][s] - lattice.total);
    }
    for (std::int64_t c = 0; c < logProbs.extent(2); ++c) {
      const double share = isBeforeSoftmax ? std::exp(logProbs(t, b, c)) : 0;
      gradient.set(isLive ? share - occupied[static_cast<std::size_t>(c)] : 0,
                   t, b, c);
    }
  }
}

void reference(const ReferenceCall &call) {
  const auto &attributes = call.signature.attributes;
  for (std::int64_t b = 0; b < call.signature.inputs[0].shape[1]; ++b) {
    const auto lattice = latticeOf(call, b);
    const bool isZeroed =
        lattice.total == never && attributes.getInt("zeroInfinity") != 0;
    outputView(call, 0).set(isZeroed ? 0 : -lattice.total, b);
    if (attributes.getInt("gradient") != 0) {
      writeGradient(call, lattice, b);
    }
  }
}

} // namespace

const Kind &ctcLossKind() {
  static const Kind kind{"ctcLoss", infer, reference, ctcLossKernels()};
  return kind;
}

} // namespace kernels
