// Building an ONNX model node by node. popart/builder.hpp adds a method for
// each operator; this is what they stand on.
#pragma once

#include <popart/any.hpp>
#include <popart/debugcontext.hpp>
#include <popart/inputsettings.hpp>
#include <popart/names.hpp>
#include <popart/op.hpp>
#include <popart/sessionoptions.hpp>
#include <popart/stepio.hpp>
#include <popart/tensorinfo.hpp>
#include <popart/variablesettings.hpp>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace popart {

// ONNX's number of an element type, by PopART's name for it ("FLOAT16").
std::int64_t onnxTypeNumber(const std::string &name);

class ModelBuilder {
public:
  // Values: int64_t, float, std::string, vectors of these, ConstVoidData (a
  // tensor) and ModelBuilder * (a subgraph).
  using AttributeMap = std::map<std::string, popart::any>;

  ModelBuilder();
  virtual ~ModelBuilder();
  ModelBuilder(const ModelBuilder &) = delete;
  ModelBuilder &operator=(const ModelBuilder &) = delete;

  // The name of a file or a serialised model; replaces what was built.
  void loadModelProto(const std::string &modelProtoOrFilename);

  // A child for a body of If, Loop, Scan or Call; this builder owns it.
  ModelBuilder &createSubgraph(std::unique_ptr<ModelBuilder> child);

  TensorId addInputTensor(const TensorInfo &info,
                          const DebugContext &debugContext = {});
  TensorId addInputTensor(const TensorInfo &info, const InputSettings &settings,
                          const DebugContext &debugContext = {});
  TensorId addInputTensor(const std::string &dataType, const Shape &shape,
                          const DebugContext &debugContext = {});
  // For subgraphs: type and shape are those of what the caller passes.
  TensorId addUntypedInputTensor(const DebugContext &debugContext = {});
  void addInputTensorFromParentGraph(const TensorId &id);
  // A weight; its data is copied.
  TensorId addInitializedInputTensor(const ConstVoidData &data,
                                     const DebugContext &debugContext = {});
  // With groups of replicas that have values of their own, data has a leading
  // dimension for them, and embedReplicationFactor comes first.
  TensorId addInitializedInputTensor(const ConstVoidData &data,
                                     const VariableSettings &settings,
                                     const DebugContext &debugContext = {});
  void addOutputTensor(const TensorId &id);

  // A node of any operator. ai.onnx and ai.graphcore operators are checked,
  // others are not known before a session is made.
  std::vector<TensorId> customOp(const OperatorIdentifier &opid,
                                 int opsetVersion,
                                 const std::vector<TensorId> &inputs,
                                 unsigned numOutputs,
                                 const AttributeMap &attributes,
                                 const DebugContext &debugContext = {});
  // A Reshape with a constant shape.
  TensorId reshape_const(int opsetVersion, const TensorId &input,
                         const Shape &shape,
                         const DebugContext &debugContext = {});
  // Identities that mark what recomputation keeps.
  std::vector<TensorId> checkpointOutput(const std::vector<TensorId> &ids);

  std::string getModelProto() const;
  void saveModelProto(const std::string &fileName) const;
  void saveInitializersExternally(const std::vector<TensorId> &ids,
                                  const std::string &fileName);
  void setGraphName(const std::string &name);
  void embedReplicationFactor(int replicationFactor);

  std::vector<TensorId> getInputTensorIds() const;
  std::vector<TensorId> getOutputTensorIds() const;
  std::vector<TensorId> getValueTensorIds() const;
  std::vector<TensorId> getTrainableTensorIds() const;
  bool hasTensorShape(const TensorId &id) const;
  Shape getTensorShape(const TensorId &id) const;
  std::string getTensorDtypeString(const TensorId &id) const;
  DataType getTensorDataType(const TensorId &id) const;
  bool isInitializer(const TensorId &id) const;

  void pushNameScope(const std::string &name);
  void popNameScope();
  // The scopes, joined and followed by the name.
  std::string getNameScope(const std::string &name = "") const;

  // Attributes of the nodes that are added while they are set.
  void setAttribute(const std::string &name, const popart::any &value);
  popart::any getAttribute(const std::string &name) const;
  bool hasAttribute(const std::string &name) const;
  void clearAttribute(const std::string &name);

  // Attributes of a node, which is named by all of its outputs.
  void addNodeAttribute(const std::string &name, const popart::any &value,
                        const std::set<TensorId> &outputs);
  // Adds it or replaces its value.
  void setNodeAttribute(const std::string &name, const popart::any &value,
                        const std::set<TensorId> &outputs);
  bool nodeHasAttribute(const std::string &name,
                        const std::set<TensorId> &outputs) const;
  void removeNodeAttribute(const std::string &name,
                           const std::set<TensorId> &outputs);
  std::int64_t getInt64NodeAttribute(const std::string &name,
                                     const std::set<TensorId> &outputs) const;
  std::vector<std::int64_t>
  getInt64VectorNodeAttribute(const std::string &name,
                              const std::set<TensorId> &outputs) const;
  float getFloatNodeAttribute(const std::string &name,
                              const std::set<TensorId> &outputs) const;
  std::vector<float>
  getFloatVectorNodeAttribute(const std::string &name,
                              const std::set<TensorId> &outputs) const;
  std::string getStringNodeAttribute(const std::string &name,
                                     const std::set<TensorId> &outputs) const;
  std::vector<std::string>
  getStringVectorNodeAttribute(const std::string &name,
                               const std::set<TensorId> &outputs) const;
  std::vector<std::string>
  getAllNodeAttributeNames(const std::set<TensorId> &outputs) const;

  // Where and how nodes run; see the session options that read them.
  void virtualGraph(const std::set<TensorId> &outputs, std::int64_t value);
  void pipelineStage(const std::set<TensorId> &outputs, std::int64_t value);
  void executionPhase(const std::set<TensorId> &outputs, std::int64_t value);
  std::int64_t getVirtualGraph(const std::set<TensorId> &outputs) const;
  std::int64_t getPipelineStage(const std::set<TensorId> &outputs) const;
  std::int64_t getExecutionPhase(const std::set<TensorId> &outputs) const;
  bool hasVirtualGraph(const std::set<TensorId> &outputs) const;
  bool hasPipelineStage(const std::set<TensorId> &outputs) const;
  bool hasExecutionPhase(const std::set<TensorId> &outputs) const;
  void
  recomputeOutputInBackwardPass(const std::set<TensorId> &outputs,
                                RecomputeType value = RecomputeType::Recompute);
  bool
  getRecomputeOutputInBackwardPass(const std::set<TensorId> &outputs) const;
  void outputTensorLocation(const std::set<TensorId> &outputs,
                            const TensorLocation &location);
  void setAvailableMemoryProportion(const std::set<TensorId> &outputs,
                                    float proportion);
  void setPartialsType(const TensorId &output, const std::string &type);
  std::string getPartialsType(const TensorId &output) const;
  void setEnableConvDithering(const TensorId &output, std::int64_t value);
  void setSerializeMatMul(const std::set<TensorId> &outputs,
                          const std::string &mode, std::int64_t factor = 0,
                          bool keepPrecision = false);
  void setInplacePreferences(const TensorId &output,
                             const std::map<std::string, float> &priorities);
  void excludePatterns(const TensorId &output,
                       const std::vector<std::string> &patterns);

private:
  friend class BuilderAccess; // popart/src/builder/Builder.hpp
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

} // namespace popart
