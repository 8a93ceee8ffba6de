// From the operands of a "roundHalf" operation to how it rounds.
#pragma once

#include "random/Philox.hpp"
#include "rounding/HalfRounding.hpp"

#include <kernels/Attributes.hpp>

namespace kernels::rounding {

// Of an operation whose control has these three words: a seed, and the bits of
// the floating-point control.
inline Control controlOf(const Attributes &attributes,
                         const std::uint32_t *words) {
  return {(words[2] & stochasticBit) != 0, (words[2] & nanOnOverflowBit) != 0,
          attributes.getInt("infinityOverflows") != 0};
}
inline random::Stream streamOf(const Attributes &attributes,
                               const std::uint32_t *words) {
  return {{words[0], words[1]},
          static_cast<std::uint32_t>(attributes.getInt("modifier"))};
}

} // namespace kernels::rounding
