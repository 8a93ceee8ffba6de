// One element type of a model for another.
#pragma once

#include <popart/tensorinfo.hpp>

namespace onnx {
class ModelProto;
} // namespace onnx

namespace popart {

// Everything in the model that has type `from`: values, and what is said about
// types. Throws popart::error when an INT64 does not fit INT32, unless `clip`
// takes the nearest that does.
void convertTypes(onnx::ModelProto &model, DataType from, DataType to,
                  bool clip);

} // namespace popart
