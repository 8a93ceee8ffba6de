// Tensors whose data is in files beside the model.
#pragma once

#include <onnx/Model.hpp>

namespace onnx {
class TensorProto;
} // namespace onnx

namespace popart {

// Replaces every reference to another file by the data itself and says where
// it was. A file must lie in `folder`; `allowAbsolute` takes absolute names
// too, for models that the program built itself.
std::map<TensorId, ExternalData>
loadExternalData(onnx::ModelProto &model, const std::filesystem::path &folder,
                 bool allowAbsolute);

// Writes the data of initialisers `ids` into one file, one after another,
// replaces them by references to it and says where they are.
std::map<TensorId, ExternalData>
saveExternalData(onnx::ModelProto &model, const std::vector<TensorId> &ids,
                 const std::string &fileName);

// Makes the tensor, without data of its own, refer to a file.
void setExternal(onnx::TensorProto &tensor, const ExternalData &where);

// Overwrites data in a file that loadExternalData read.
void writeExternal(const std::filesystem::path &folder,
                   const ExternalData &where, const std::vector<char> &bytes);

} // namespace popart
