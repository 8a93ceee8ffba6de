// Operations that no call of the model asks for, and where they run.
#pragma once

#include <popart/ir.hpp>

#include <initializer_list>
#include <utility>
#include <vector>

namespace poptorch {

// Beside the first of these tensors that an operation makes or reads, or else
// `otherwise`.
popart::Op::Settings
settingsBeside(const popart::Graph &graph,
               std::initializer_list<popart::TensorId> tensors,
               popart::Op::Settings otherwise);

// To variables, from values, as if all at once: what they take from each other
// is what that was before.
void copyToVariables(
    popart::Graph &graph,
    std::vector<std::pair<popart::TensorId, popart::TensorId>> copies,
    const popart::Op::Settings &otherwise);

// Renumbers stages where the calls of some have added no operations; how many
// there are.
std::int64_t closeGaps(popart::Graph &graph);

} // namespace poptorch
