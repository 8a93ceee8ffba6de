#include "random/Parameters.hpp"

#include <cmath>
#include <string>

namespace kernels::random {

namespace {

Distribution truncatedNormal(double mean, double stdDev, double alpha) {
  return TruncatedNormal{static_cast<float>(mean), static_cast<float>(stdDev),
                         static_cast<float>(mean - alpha * stdDev),
                         static_cast<float>(mean + alpha * stdDev),
                         static_cast<float>(std::erf(alpha / std::sqrt(2.0)))};
}

// As an integer a value stands for all up to the next one.
Distribution logUniform(double low, double high, bool isInteger) {
  return LogUniform{
      static_cast<float>(low), static_cast<float>(high),
      static_cast<float>(std::log((isInteger ? high + 1 : high) / low))};
}

} // namespace

Bernoulli bernoulliOf(double probability) {
  return {static_cast<std::uint32_t>(std::llround(probability * 0x1p31))};
}

Distribution distributionOf(const Attributes &attributes,
                            support::DataType type) {
  const std::string &name = attributes.getString("distribution");
  const auto &p = attributes.getFloats("parameters");
  const bool isInteger = type == support::DataType::Int;
  if (name == "uniform" && isInteger) {
    return UniformInt{static_cast<std::int64_t>(p[0]),
                      static_cast<std::uint64_t>(p[1] - p[0]) + 1};
  }
  if (name == "uniform") {
    return Uniform{static_cast<float>(p[0]), static_cast<float>(p[1]),
                   static_cast<float>(p[1] - p[0])};
  }
  if (name == "normal") {
    return Normal{static_cast<float>(p[0]), static_cast<float>(p[1])};
  }
  if (name == "truncatedNormal") {
    return truncatedNormal(p[0], p[1], p[2]);
  }
  if (name == "logUniform") {
    return logUniform(p[0], p[1], isInteger);
  }
  if (name == "bernoulli") {
    return bernoulliOf(p[0]);
  }
  return Bits{};
}

Stream streamOf(const Attributes &attributes, const std::uint32_t *seed) {
  return {{seed[0], seed[1]},
          static_cast<std::uint32_t>(attributes.getInt("modifier"))};
}

} // namespace kernels::random
