// How far two trainings of one model went apart.
#pragma once

#include <popart/names.hpp>

#include <map>
#include <string>

namespace popart {
namespace numerics {

// Of one weight: sums over its elements.
struct Differences {
  double squaredStepA = 0; // (A1 - A0)^2
  double squaredStepB = 0; // (B1 - B0)^2
  double squaredGap = 0;   // (A1 - B1)^2
  std::int64_t elements = 0;

  // The gap in units of what training changed: 0 for equal results.
  float relativeError() const;
};

class NumericsReport {
public:
  // Files or serialised models: A0 was trained to A1 and B0 to B1. Throws
  // popart::error unless all have the same weights.
  NumericsReport(const std::string &A0, const std::string &A1,
                 const std::string &B0, const std::string &B1);

  // One weight, or all of them, as text.
  std::string report(const TensorId &id) const;
  std::string fullReport() const;
  std::map<TensorId, float> getRelativeErrors() const;

private:
  std::map<TensorId, Differences> weights_;
};

} // namespace numerics
} // namespace popart
