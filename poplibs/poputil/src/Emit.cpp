#include <poputil/internal/Emit.hpp>

#include <kernels/Kind.hpp>
#include <poplar/exceptions.hpp>
#include <poplar/internal/Access.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <fmt/core.h>

namespace poputil::internal {

namespace {

std::string codeletsKey(std::string_view library) {
  return std::string(library) + "/codelets";
}

bool isEmpty(const Operation &operation) {
  for (const auto &output : operation.outputs) {
    if (output.numElements() != 0) {
      return false;
    }
  }
  return true;
}

poplar::internal::VertexGroup
toGroup(Operation operation, const poplar::DebugContext &debugContext) {
  poplar::internal::VertexGroup group;
  group.kind = &kernels::findKind(operation.kind);
  group.attributes = std::move(operation.attributes);
  for (const auto &input : operation.inputs) {
    group.inputs.push_back(poplar::internal::tensorView(input));
  }
  for (const auto &output : operation.outputs) {
    group.outputs.push_back(poplar::internal::tensorView(output));
  }
  group.phases = std::move(operation.phases);
  group.debugPath = debugContext.getPathName();
  return group;
}

} // namespace

std::vector<kernels::TensorType>
inferOutputs(std::string_view kind, const kernels::Attributes &attributes,
             const std::vector<poplar::Tensor> &inputs) {
  std::vector<kernels::TensorType> types;
  types.reserve(inputs.size());
  for (const auto &input : inputs) {
    types.push_back(tensorType(input));
  }
  try {
    return kernels::findKind(kind).infer(attributes, types);
  } catch (const std::invalid_argument &error) {
    throw poplibs_error(error.what());
  }
}

std::vector<poplar::Tensor>
addOutputs(poplar::Graph &graph, std::string_view kind,
           const kernels::Attributes &attributes,
           const std::vector<poplar::Tensor> &inputs, TileRange tiles,
           const poplar::DebugContext &debugContext) {
  std::vector<poplar::Tensor> outputs;
  for (const auto &type : inferOutputs(kind, attributes, inputs)) {
    const auto name = outputs.empty() ? std::string("out")
                                      : fmt::format("out{}", outputs.size());
    outputs.push_back(
        addLinearVariable(graph, type, tiles, {debugContext, name}));
  }
  return outputs;
}

void emit(poplar::Graph &graph, poplar::program::Sequence &program,
          Operation operation, const poplar::DebugContext &debugContext) {
  if (!isEmpty(operation)) {
    poplar::internal::executeGroup(graph, program,
                                   toGroup(std::move(operation), debugContext));
  }
}

void emit(poplar::Graph &graph, poplar::ComputeSet computeSet,
          Operation operation, const poplar::DebugContext &debugContext) {
  if (!isEmpty(operation)) {
    poplar::internal::addGroup(graph, computeSet,
                               toGroup(std::move(operation), debugContext));
  }
}

void addLibraryCodelets(poplar::Graph &graph, std::string_view library) {
  poplar::internal::graphData(graph).libraryData[codeletsKey(library)] =
      std::make_shared<bool>(true);
}

void requireCodelets(const poplar::Graph &graph, std::string_view library,
                     std::string_view vertex) {
  const auto &data = poplar::internal::graphData(graph).libraryData;
  if (data.find(codeletsKey(library)) == data.end()) {
    throw poplar::unknown_vertex_type(std::string(vertex));
  }
}

} // namespace poputil::internal
