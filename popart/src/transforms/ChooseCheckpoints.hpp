// Which forward operations are repeated in the backward pass, by
// SessionOptions::autoRecomputation; the results of all others are kept.
#pragma once

#include <transforms/Pass.hpp>

#include <set>

namespace popart {

std::set<const Op *> chooseRecomputed(const PassContext &context);

} // namespace popart
