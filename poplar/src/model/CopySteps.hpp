// Lowers copies and host transfers to steps: who sends how much to whom.
#pragma once

#include "model/Step.hpp"
#include <poplar/internal/GraphData.hpp>
#include <poplar/internal/ProgramNode.hpp>

#include <vector>

namespace poplar::model {

// At most two steps: the part between IPUs, then the part inside them (exchange
// and copies that stay on their tile).
std::vector<Step> lowerCopy(const internal::GraphData &graph,
                            const internal::CopyNode &copy);

Step lowerHostTransfer(const internal::GraphData &graph,
                       const internal::TensorView &view, StepKind direction);

} // namespace poplar::model
