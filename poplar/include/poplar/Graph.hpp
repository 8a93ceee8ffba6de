// The graph: variables, vertices, their mapping to tiles, and streams.
// Programs over it are built with poplar/Program.hpp.
#pragma once

#include <poplar/ArrayRef.hpp>
#include <poplar/CodeletFileType.hpp>
#include <poplar/ConnectionDesc.hpp>
#include <poplar/DataStream.hpp>
#include <poplar/DebugContext.hpp>
#include <poplar/Device.hpp>
#include <poplar/GraphElements.hpp>
#include <poplar/Interval.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/PerfEstimateFunc.hpp>
#include <poplar/RemoteBuffer.hpp>
#include <poplar/ReplicatedStreamMode.hpp>
#include <poplar/StandardIncludes.hpp>
#include <poplar/StringRef.hpp>
#include <poplar/Target.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/TensorCloneMethod.hpp>
#include <poplar/TensorRearranger.hpp>
#include <poplar/Type.hpp>
#include <poplar/TypeTraits.hpp>
#include <poplar/VariableMappingMethod.hpp>
#include <poplar/exceptions.hpp>
#include <poplar/replication_factor.hpp>

namespace poplar {

namespace internal {
struct GraphData;
class TileSelection;
} // namespace internal

namespace program {
class Program;
} // namespace program

// The release this API is compatible with, for example "3.3.0 (...)".
StringRef versionString();
StringRef packageHash();

class Graph {
public:
  // One list of intervals of the flattened tensor per tile.
  using TileToTensorMapping = std::vector<std::vector<Interval>>;

  Graph();
  explicit Graph(const Target &target,
                 replication_factor replicas = replication_factor(1));
  explicit Graph(const Device &device,
                 replication_factor replicas = replication_factor(1));
  ~Graph();
  Graph(Graph &&) noexcept;
  Graph &operator=(Graph &&) noexcept;
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;

  // The tiles of one replica.
  const Target &getTarget() const;
  unsigned getReplicationFactor() const;

  // Virtual graphs: other tiles, or an order of their own, for the same
  // variables, vertices and programs. Tile numbers are relative to each graph.
  Graph createVirtualGraph(unsigned numTilesPerIPU); // the first of every IPU
  // Tiles of one IPU, or whole IPUs.
  Graph createVirtualGraph(unsigned lowerTile, unsigned upperTile);
  // The same tiles of every IPU.
  Graph createVirtualGraph(const std::vector<unsigned> &perIPUTiles);
  Graph getTopLevelGraph() const;
  // Between tile numbers of this graph and of the top-level one, which here are
  // those of the machine. Throw index_error for a tile that is not there.
  unsigned convertTileToTopLevelGraphTile(unsigned tile) const;
  unsigned convertTopLevelGraphTileToTile(unsigned tile) const;
  unsigned convertVirtualTileToPhysicalTile(unsigned tile) const {
    return convertTileToTopLevelGraphTile(tile);
  }
  unsigned convertPhysicalTileToVirtualTile(unsigned tile) const {
    return convertTopLevelGraphTileToTile(tile);
  }

  // Variables. An empty shape is a scalar.
  Tensor addVariable(const Type &type, ArrayRef<std::size_t> shape,
                     const DebugContext &debugContext = {});
  Tensor addVariable(const Type &type, ArrayRef<std::size_t> shape,
                     VariableMappingMethod method,
                     const DebugContext &debugContext = {});
  // The same for QUARTER elements whose meaning is in `metadata`.
  Tensor addVariable(const Type &type, const Tensor &metadata,
                     ArrayRef<std::size_t> shape,
                     const DebugContext &debugContext = {});
  Tensor addVariable(const Type &type, const Tensor &metadata,
                     ArrayRef<std::size_t> shape, VariableMappingMethod method,
                     const DebugContext &debugContext = {});

  // Constants; they need a tile mapping like variables.
  template <typename T>
  Tensor addConstant(const Type &type, ArrayRef<std::size_t> shape,
                     ArrayRef<T> values,
                     const DebugContext &debugContext = {"<const>"}) {
    return addConstantFrom(type, shape, equivalent_device_type<T>().value,
                           values.data(), values.size(), false, debugContext);
  }
  // Every element the same.
  template <typename T>
  typename std::enable_if<TypeTraits::isSimpleType<T>(), Tensor>::type
  addConstant(const Type &type, ArrayRef<std::size_t> shape, T value,
              const DebugContext &debugContext = {"<const>"}) {
    return addConstantFrom(type, shape, equivalent_device_type<T>().value,
                           &value, 1, true, debugContext);
  }
  // As many values as the shape has elements. The pointer is deduced by itself
  // so that addConstant<float>(FLOAT, {}, 0) means the value 0.
  template <typename Pointer>
  typename std::enable_if<std::is_pointer<Pointer>::value, Tensor>::type
  addConstant(const Type &type, ArrayRef<std::size_t> shape, Pointer values,
              const DebugContext &debugContext = {"<const>"}) {
    using T = typename std::remove_cv<
        typename std::remove_pointer<Pointer>::type>::type;
    return addConstant(type, shape, ArrayRef<T>(values, countOf(shape)),
                       debugContext);
  }
  template <typename T, typename Pointer>
  typename std::enable_if<std::is_pointer<Pointer>::value &&
                              !std::is_pointer<T>::value,
                          Tensor>::type
  addConstant(const Type &type, ArrayRef<std::size_t> shape, Pointer values,
              const DebugContext &debugContext = {"<const>"}) {
    return addConstant(type, shape, ArrayRef<T>(values, countOf(shape)),
                       debugContext);
  }
  // HALF constants from their bits.
  Tensor addConstantHalf(const Type &type, ArrayRef<std::size_t> shape,
                         std::uint16_t value,
                         const DebugContext &debugContext = {"<const>"});
  Tensor addConstantHalf(const Type &type, ArrayRef<std::size_t> shape,
                         const std::uint16_t *values,
                         const DebugContext &debugContext = {"<const>"});

  // An UNSIGNED_INT scalar: the number of the replica that reads it.
  Tensor addReplicationIndexConstant(const DebugContext &debugContext = {});

  Tensor getVariable(VariableRef variable) const;
  bool isConstant(VariableRef variable) const;

  // New variables of the same shape and tile mapping.
  Tensor clone(const Type &type, const Tensor &tensor,
               const DebugContext &debugContext = {},
               TensorCloneMethod method =
                   TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES);
  Tensor clone(const Tensor &tensor, const DebugContext &debugContext = {},
               TensorCloneMethod method =
                   TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES);
  // N of them along a new outermost dimension.
  Tensor cloneN(const Tensor &tensor, std::size_t N,
                const DebugContext &debugContext = {},
                TensorCloneMethod method =
                    TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES,
                TensorCloneDuplicationMethod duplicationMethod =
                    TensorCloneDuplicationMethod::DUPLICATE_BY_OUTER_DIMENSION);

  // The contents of a variable when the program is loaded: one value for all
  // elements, or one for each.
  template <typename T>
  typename std::enable_if<TypeTraits::isSimpleType<T>()>::type
  setInitialValue(const Tensor &tensor, T value) {
    setInitialValueFrom(tensor, equivalent_device_type<T>().value, &value, 1,
                        true);
  }
  template <typename T>
  void setInitialValue(const Tensor &tensor, ArrayRef<T> values) {
    setInitialValueFrom(tensor, equivalent_device_type<T>().value,
                        values.data(), values.size(), false);
  }
  void setInitialValueHalf(const Tensor &tensor, std::uint16_t value);
  void setInitialValueHalf(const Tensor &tensor,
                           ArrayRef<std::uint16_t> values);

  // Tile mapping: the last call wins for each element. What lies on tiles that
  // a virtual graph does not have is an error unless it is allowed, and is then
  // left out.
  void setTileMapping(const Tensor &tensor, unsigned tile);
  void setTileMapping(const Tensor &tensor, const TileToTensorMapping &mapping);
  TileToTensorMapping getTileMapping(const Tensor &tensor,
                                     bool requireComplete = true,
                                     bool allowExternal = false) const;
  TileToTensorMapping getTileMapping(const Tensor &tensor, bool *isComplete,
                                     bool allowExternal = false) const;
  // Of the elements that are mapped and not constant.
  TileToTensorMapping getVariableTileMapping(const Tensor &tensor) const;

  // How a tensor lies in memory. Regions of the flattened tensor, each list
  // consecutive in one variable. Aliased elements are listed once if
  // `removeAliasedIntervals`; `aliases` gets a number for each interval, the
  // same for the same elements.
  std::vector<std::vector<Interval>>
  getSortedContiguousRegions(const Tensor &tensor, ArrayRef<Interval> regions,
                             bool removeAliasedIntervals = false,
                             std::vector<std::size_t> *aliases = nullptr) const;
  // Puts the elements of a flattened tensor into the order of its variables,
  // and those of others into the same order.
  void reorderToSimplify(Tensor *tensor, ArrayRef<Tensor *> others,
                         bool requireSimplestOrder = true) const;
  TensorRearranger getSimplifyingRearranger(const Tensor &tensor) const;
  // The smallest tensor that broadcasting makes this one from, or itself.
  Tensor findUnbroadcastTensor(const Tensor &tensor) const;

  // Codelets: compiles or loads the file and adds its vertex types. False when
  // the graph already has the same compiled codelets. Of two types of one name
  // the first stays. An empty target name is this graph's target.
  bool addCodelets(StringRef source,
                   CodeletFileType type = CodeletFileType::Auto,
                   StringRef compileFlags = "", StringRef targetName = "");
  bool addCodelets(ArrayRef<std::string> files, StringRef compileFlags = "",
                   StringRef targetName = "");
  // Source text. What the compiler says goes to standard error, or to the
  // stream given.
  bool addCodelets(std::stringstream &source, StringRef compileFlags = "",
                   CodeletFileType type = CodeletFileType::CppSource,
                   StringRef targetName = "");
  bool addCodelets(std::stringstream &source, StringRef compileFlags,
                   std::ostream &compileOutput,
                   CodeletFileType type = CodeletFileType::CppSource,
                   StringRef targetName = "");
  bool hasCodelet(StringRef vertexName) const;

  // Vertices. Their names may have spaces that C++ allows.
  ComputeSet addComputeSet(const DebugContext &debugContext = {});
  VertexRef addVertex(ComputeSet computeSet, StringRef vertexType);
  VertexRef addVertex(ComputeSet computeSet, StringRef vertexType,
                      ArrayRef<ConnectionDesc> connections);
  std::size_t getNumVertices() const;
  void setTileMapping(const VertexRef &vertex, unsigned tile);

  // Connects a field: one element to a scalar edge, a tensor of rank 1 to a
  // vector, a list of tensors or one tensor of a rank more to a list of edges.
  // The last call wins.
  void connect(const FieldRef &field, const Tensor &tensor);
  void connect(const FieldRef &field, ArrayRef<Tensor> tensors);
  // A constant of its own, on the vertex's tile.
  template <typename T>
  typename std::enable_if<TypeTraits::isSimpleType<T>()>::type
  connect(const FieldRef &field, T value) {
    connectValue(field, equivalent_device_type<T>().value, &value);
  }

  // The values of fields that are not edges.
  template <typename T>
  typename std::enable_if<TypeTraits::isSimpleType<T>()>::type
  setInitialValue(const FieldRef &field, T value) {
    connectValue(field, equivalent_device_type<T>().value, &value);
  }
  template <typename T>
  void setInitialValue(const FieldRef &field, ArrayRef<T> values) {
    setFieldValues(field, equivalent_device_type<T>().value, values.data(),
                   values.size());
  }
  void setInitialValueHalf(const FieldRef &field, std::uint16_t value);
  void setInitialValueHalf(const FieldRef &field,
                           ArrayRef<std::uint16_t> values);

  // The tensors of a list that are then connected one by one, or the elements
  // of a vector that is not an edge.
  void setFieldSize(const FieldRef &field, std::size_t size);
  // Throws no_size_specified for a field that is neither sized nor connected.
  std::size_t getFieldSize(const FieldRef &field) const;
  // The most elements that a dimension of a field may have: dimension 0 of a
  // list counts its tensors, dimension 1 their elements.
  std::size_t getMaxFieldDim(StringRef vertexName, StringRef fieldName,
                             unsigned dimension) const;
  // The largest number that a field which is not an edge can hold.
  double getMaxVertexFieldValue(StringRef vertexName,
                                StringRef fieldName) const;
  template <typename T>
  T getMaxVertexFieldValueAs(StringRef vertexName, StringRef fieldName) const {
    double value = getMaxVertexFieldValue(vertexName, fieldName);
    T limit = std::numeric_limits<T>::max();
    return value < static_cast<double>(limit) ? static_cast<T>(value) : limit;
  }

  // What vertices cost, for profiles only. An estimator is asked for vertices
  // without an estimate of their own when the graph is compiled.
  void setPerfEstimate(const VertexRef &vertex, std::uint64_t cycles,
                       std::uint64_t flops = 0);
  void setPerfEstimate(const VertexRef &vertex,
                       const VertexPerfEstimate &estimate);
  // Throws missing_perf_estimate.
  VertexPerfEstimate getPerfEstimate(const VertexRef &vertex) const;
  void registerPerfEstimator(StringRef vertexType, PerfEstimateFunc estimator);
  // The names before SDK 2.0.
  void setCycleEstimate(const VertexRef &vertex, unsigned cycles) {
    setPerfEstimate(vertex, cycles);
  }
  void registerCycleEstimator(StringRef vertexType,
                              PerfEstimateFunc estimator) {
    registerPerfEstimator(vertexType, std::move(estimator));
  }

  // A program that program::Call runs in several places.
  Function addFunction(const program::Program &program);

  // Host access by handle, while the program does not run.
  void createHostWrite(StringRef handle, const Tensor &tensor,
                       bool rearrangeOnHost = false);
  void createHostRead(StringRef handle, const Tensor &tensor,
                      bool rearrangeOnHost = false);
  DataStream addHostToDeviceFIFO(
      StringRef handle, const Type &elementType, std::size_t numElements,
      ReplicatedStreamMode mode = ReplicatedStreamMode::REPLICATE,
      const OptionFlags &options = {});
  DataStream addDeviceToHostFIFO(StringRef handle, const Type &elementType,
                                 std::size_t numElements,
                                 const OptionFlags &options = {});
  // `repeats` rows of `numElements` in host memory. Where the rearranging is
  // done changes nothing here.
  RemoteBuffer addRemoteBuffer(StringRef handle, const Type &elementType,
                               std::size_t numElements, std::size_t repeats = 1,
                               bool rearrangeOnHost = false,
                               bool optimiseMemory = false);

private:
  friend struct internal::Access;

  static std::size_t countOf(ArrayRef<std::size_t> shape) {
    std::size_t count = 1;
    for (std::size_t extent : shape) {
      count *= extent;
    }
    return count;
  }
  // `count` values of a host type, given as its device equivalent; to fill is
  // to repeat the first one.
  Tensor addConstantFrom(const Type &type, ArrayRef<std::size_t> shape,
                         const Type &hostType, const void *values,
                         std::size_t count, bool isFill,
                         const DebugContext &debugContext);
  // One value of a host type for a field, edge or not.
  void connectValue(const FieldRef &field, const Type &hostType,
                    const void *value);
  void setFieldValues(const FieldRef &field, const Type &hostType,
                      const void *values, std::size_t count);
  void setInitialValueFrom(const Tensor &tensor, const Type &hostType,
                           const void *values, std::size_t count, bool isFill);

  // `tiles` of this graph, as a graph of their own.
  Graph withTiles(const std::vector<unsigned> &tiles,
                  const Target &target) const;

  std::shared_ptr<internal::GraphData> data_;
  std::shared_ptr<const internal::TileSelection> tiles_; // null: all tiles
  Target target_;
};

} // namespace poplar
