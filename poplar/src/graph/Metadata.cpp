// The metadata of QUARTER tensors: how it is made, and that views and clones
// keep it.
#include <poplar/Graph.hpp>
#include <poplar/MetadataCreation.hpp>

#include "Handles.hpp"
#include "QuarterBits.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

namespace poplar {

using internal::Access;
using internal::TensorData;
using internal::validData;
using support::requireUser;

namespace {

std::uint8_t checkedBits(QuarterMetadata::Format format, int scale) {
  requireUser<tensor_metadata_error>(
      scale >= -32 && scale <= 31,
      "[poplar] a scale of {} given for QUARTER values; it must be in "
      "[-32, 31]",
      scale);
  return internal::metadataBits({format, static_cast<signed char>(scale)});
}

} // namespace

Tensor createConstantMetadataTensor(Graph &graph,
                                    QuarterMetadata::Format format, int scale,
                                    const DebugContext &debugContext) {
  const Tensor tensor = graph.addConstant<unsigned char>(
      UNSIGNED_CHAR, {}, checkedBits(format, scale), debugContext);
  graph.setTileMapping(tensor, 0);
  return tensor;
}

Tensor createVariableMetadataTensor(Graph &graph,
                                    QuarterMetadata::Format format, int scale,
                                    const DebugContext &debugContext) {
  const Tensor tensor = graph.addVariable(UNSIGNED_CHAR, {}, debugContext);
  graph.setTileMapping(tensor, 0);
  graph.setInitialValue<unsigned char>(tensor, checkedBits(format, scale));
  return tensor;
}

bool Tensor::hasMetadata() const {
  return validData(*this, "poplar::Tensor::hasMetadata").metadata != nullptr;
}

Tensor Tensor::getMetadata() const {
  const TensorData &data = validData(*this, "poplar::Tensor::getMetadata");
  requireUser<tensor_metadata_error>(
      data.metadata != nullptr,
      "[poplar::Tensor::getMetadata] a tensor of {} without metadata; "
      "associateMetadata() gives it one",
      support::toString(data.view.type));
  return Access::makeTensor(data.metadata);
}

void Tensor::associateMetadata(const Tensor &metadata) {
  TensorData data = validData(*this, "poplar::Tensor::associateMetadata");
  const TensorData &given =
      validData(metadata, "poplar::Tensor::associateMetadata");
  requireUser<tensor_metadata_error>(
      data.view.type == support::DataType::Quarter &&
          given.view.type == support::DataType::UnsignedChar &&
          given.view.elements() == 1,
      "[poplar::Tensor::associateMetadata] metadata of {}{} given for a tensor "
      "of {}; one unsigned char for a tensor of quarter is needed",
      support::toString(given.view.type), support::toString(given.view.shape),
      support::toString(data.view.type));
  data.metadata = Access::data(metadata);
  data_ = std::make_shared<const TensorData>(std::move(data));
}

Tensor Graph::addVariable(const Type &type, const Tensor &metadata,
                          ArrayRef<std::size_t> shape,
                          const DebugContext &debugContext) {
  Tensor tensor = addVariable(type, shape, debugContext);
  tensor.associateMetadata(metadata);
  return tensor;
}

Tensor Graph::addVariable(const Type &type, const Tensor &metadata,
                          ArrayRef<std::size_t> shape,
                          VariableMappingMethod method,
                          const DebugContext &debugContext) {
  Tensor tensor = addVariable(type, shape, method, debugContext);
  tensor.associateMetadata(metadata);
  return tensor;
}

} // namespace poplar
