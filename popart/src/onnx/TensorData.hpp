// ONNX's tensors and element types as PopART has them.
#pragma once

#include <popart/tensorinfo.hpp>

#include <string>
#include <vector>

namespace onnx {
class GraphProto;
class TensorProto;
class ValueInfoProto;
} // namespace onnx

namespace popart {

// ONNX's number of an element type, and back; UNDEFINED for what PopART lacks.
int toOnnxType(DataType type);
DataType fromOnnxType(int onnxType);

// Throws popart::error for types that PopART lacks, for negative dimensions and
// for more elements than any device holds.
TensorInfo infoOf(const onnx::TensorProto &tensor);
// A shape from a model, which may be absurd. `what` starts the message.
TensorInfo checkedInfo(DataType type, const Shape &shape,
                       const std::string &what);

// The elements in row-major order, from whichever field they are in; throws
// popart::error unless there are as many as the shape says.
std::vector<char> bytesOf(const onnx::TensorProto &tensor);

void setData(onnx::TensorProto &tensor, const TensorInfo &info,
             const void *data);
// Removes the elements and references to them.
void clearData(onnx::TensorProto &tensor);

void setInfo(onnx::ValueInfoProto &value, const std::string &id,
             const TensorInfo &info);

// Null when there is none.
onnx::TensorProto *findInitializer(onnx::GraphProto &graph,
                                   const std::string &id);

} // namespace popart
