// From a planned operation to a descriptor in the graph, and what libraries
// remember of a graph.
#pragma once

#include <kernels/Attributes.hpp>
#include <kernels/Signature.hpp>
#include <poplar/DebugContext.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/internal/VertexGroup.hpp>
#include <poputil/internal/Tiles.hpp>

#include <string_view>
#include <vector>

namespace poputil::internal {

// What a kind makes of these inputs. Throws poplibs_error, in the kind's words,
// when it does not take them.
std::vector<kernels::TensorType>
inferOutputs(std::string_view kind, const kernels::Attributes &attributes,
             const std::vector<poplar::Tensor> &inputs);

// New variables for the outputs, mapped linearly to the tiles.
std::vector<poplar::Tensor>
addOutputs(poplar::Graph &graph, std::string_view kind,
           const kernels::Attributes &attributes,
           const std::vector<poplar::Tensor> &inputs, TileRange tiles,
           const poplar::DebugContext &debugContext);

struct Operation {
  std::string_view kind;
  kernels::Attributes attributes;
  std::vector<poplar::Tensor> inputs;
  std::vector<poplar::Tensor> outputs;
  std::vector<poplar::internal::GroupPhase> phases;
};

// Appends the operation to the program; one without elements is left out.
void emit(poplar::Graph &graph, poplar::program::Sequence &program,
          Operation operation, const poplar::DebugContext &debugContext);
// Adds it to a compute set instead.
void emit(poplar::Graph &graph, poplar::ComputeSet computeSet,
          Operation operation, const poplar::DebugContext &debugContext);

// Remembers that a library's codelets were added, and throws
// unknown_vertex_type for `vertex` when they were not.
void addLibraryCodelets(poplar::Graph &graph, std::string_view library);
void requireCodelets(const poplar::Graph &graph, std::string_view library,
                     std::string_view vertex);

} // namespace poputil::internal
