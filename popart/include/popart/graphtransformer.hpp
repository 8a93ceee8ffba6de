// Changes to ONNX models before a session reads them.
#pragma once

#include <popart/names.hpp>

#include <memory>
#include <string>
#include <vector>

namespace popart {

class GraphTransformer {
public:
  // The name of a file or a serialised ModelProto.
  explicit GraphTransformer(const std::string &modelProtoOrFilename);
  ~GraphTransformer();

  // The model as it is now, serialised.
  std::string getModelProto() const;

  // Inputs and initialisers that no node reads.
  void removeUnusedInputs();
  // Nodes that behave otherwise in inference: BatchNormalization has five
  // outputs and Dropout drops.
  void prepareNodesForTraining();

  // Inputs, initialisers, constants, the types that Cast and the like name and
  // what else the model says of types.
  void convertFloatsToHalfs();
  void convertUINT8ToINT32();
  void convertUINT16ToINT32();
  void convertINT8ToINT32();
  void convertINT16ToINT32();
  // Values that need more bits are an error, or with `clip` the nearest that do
  // not.
  void convertINT64ToINT32(bool clip = false);
  void convertDoublesToFloats();
  void convertDoublesToHalfs();
  void convertBFloats16ToFloat32();

  // Constants cannot change and are no weights.
  void convertInitializersToConstants(const std::vector<TensorId> &ids);
  void convertAllFixedPointInitializersToConstants();

  // As Builder::saveInitializersExternally.
  void saveInitializersExternally(const std::vector<TensorId> &ids,
                                  const std::string &fileName);

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

} // namespace popart
