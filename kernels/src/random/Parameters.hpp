// From the attributes of a "random" operation to its distribution.
#pragma once

#include "random/Distributions.hpp"
#include "random/Philox.hpp"

#include <kernels/Attributes.hpp>
#include <support/DataType.hpp>

#include <variant>

namespace kernels::random {

using Distribution = std::variant<Uniform, UniformInt, Normal, TruncatedNormal,
                                  LogUniform, Bernoulli, Bits>;

// What `distribution`, `parameters` and the result's type ask for. They are
// taken to have passed the kind's rules.
Distribution distributionOf(const Attributes &attributes,
                            support::DataType type);

// Hits with this probability.
Bernoulli bernoulliOf(double probability);

// The stream of an operation whose seed has these two words.
Stream streamOf(const Attributes &attributes, const std::uint32_t *seed);

} // namespace kernels::random
