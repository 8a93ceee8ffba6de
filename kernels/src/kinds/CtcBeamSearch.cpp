// "ctcBeamSearch": the most probable labels of a sequence under connectionist
// temporal classification, among the prefixes that a beam keeps.
#include "Kinds.hpp"

#include "Reference.hpp"
#include "Rules.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

namespace kernels {

namespace {

constexpr double never = -std::numeric_limits<double>::infinity();

std::vector<TensorType> infer(const Attributes &attributes,
                              std::span<const TensorType> inputs) {
  requireInputCount("ctcBeamSearch", inputs, 2);
  requireFloating("ctcBeamSearch", "logProbs", inputs[0]);
  requireRank("ctcBeamSearch", "logProbs", inputs[0], 3);
  const auto steps = inputs[0].shape[0], batch = inputs[0].shape[1];
  requireType("ctcBeamSearch", "lengths", inputs[1],
              {DataType::Int, DataType::UnsignedInt});
  requireShape("ctcBeamSearch", "lengths", inputs[1], {batch});
  const auto blank = attributes.getInt("blank");
  require(blank >= 0 && blank < inputs[0].shape[2],
          "[ctcBeamSearch] blank is {}; it must be one of the {} classes",
          blank, inputs[0].shape[2]);
  const auto width = attributes.getInt("beamWidth");
  const auto paths = attributes.getInt("topPaths");
  require(paths >= 1 && paths <= width,
          "[ctcBeamSearch] topPaths is {}; it must be from 1 to the beam's "
          "width, {}",
          paths, width);
  return {{inputs[0].type, {batch, paths}},
          {DataType::UnsignedInt, {batch, paths}},
          {DataType::UnsignedInt, {batch, paths, steps}}};
}

double logAdd(double a, double b) {
  const double top = std::max(a, b);
  return top == never ? never
                      : top + std::log(std::exp(a - top) + std::exp(b - top));
}

using Prefix = std::vector<std::int64_t>;

// The probabilities of a prefix whose last step was a blank, or its last label.
struct Beam {
  double blank = never;
  double label = never;

  double total() const { return logAdd(blank, label); }
};
using Beams = std::map<Prefix, Beam>;

Beams extend(const Beams &beams, const View &logProbs, std::int64_t t,
             std::int64_t b, std::int64_t blank) {
  Beams next;
  for (const auto &[prefix, beam] : beams) {
    for (std::int64_t c = 0; c < logProbs.extent(2); ++c) {
      const double p = logProbs(t, b, c);
      if (c == blank) {
        auto &same = next[prefix];
        same.blank = logAdd(same.blank, beam.total() + p);
        continue;
      }
      const bool repeats = !prefix.empty() && prefix.back() == c;
      if (repeats) { // without a blank between them, two labels are one
        auto &same = next[prefix];
        same.label = logAdd(same.label, beam.label + p);
      }
      auto longer = prefix;
      longer.push_back(c);
      auto &to = next[longer];
      to.label = logAdd(to.label, (repeats ? beam.blank : beam.total()) + p);
    }
  }
  return next;
}

// The best `count`, best first; equal ones by their labels.
std::vector<std::pair<Prefix, Beam>> best(const Beams &beams,
                                          std::int64_t count) {
  std::vector<std::pair<Prefix, Beam>> sorted(beams.begin(), beams.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto &a, const auto &b) {
                     return a.second.total() > b.second.total();
                   });
  if (sorted.size() > static_cast<std::size_t>(count)) {
    sorted.resize(static_cast<std::size_t>(count));
  }
  return sorted;
}

void reference(const ReferenceCall &call) {
  const View logProbs = inputView(call, 0);
  const auto &attributes = call.signature.attributes;
  const auto blank = attributes.getInt("blank");
  for (std::int64_t b = 0; b < logProbs.extent(1); ++b) {
    Beams beams{{{}, {0, never}}};
    const auto length = static_cast<std::int64_t>(inputView(call, 1)(b));
    for (std::int64_t t = 0; t < length; ++t) {
      const auto kept = best(extend(beams, logProbs, t, b, blank),
                             attributes.getInt("beamWidth"));
      beams = Beams(kept.begin(), kept.end());
    }
    const auto paths = best(beams, attributes.getInt("topPaths"));
    for (std::int64_t p = 0; p < attributes.getInt("topPaths"); ++p) {
      const auto index = static_cast<std::size_t>(p);
      const bool isThere = index < paths.size();
      const auto labels = isThere ? paths[index].first : Prefix{};
      outputView(call, 0).set(isThere ? paths[index].second.total() : never, b,
                              p);
      outputView(call, 1).set(static_cast<double>(labels.size()), b, p);
      for (std::int64_t i = 0; i < logProbs.extent(0); ++i) {
        const auto at = static_cast<std::size_t>(i);
        outputView(call, 2).set(
            static_cast<double>(at < labels.size() ? labels[at] : blank), b, p,
            i);
      }
    }
  }
}

} // namespace

const Kind &ctcBeamSearchKind() {
  static const Kind kind{"ctcBeamSearch", infer, reference, {}};
  return kind;
}

} // namespace kernels
