// Several tensors in as few copies as their types allow.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <string>
#include <vector>

namespace popart {

// from[i] to to[i], which has as many elements; those of a type travel
// together.
void copyTogether(const poplar::Graph &graph,
                  const std::vector<poplar::Tensor> &from,
                  const std::vector<poplar::Tensor> &to,
                  poplar::program::Sequence &program, const std::string &path);

} // namespace popart
