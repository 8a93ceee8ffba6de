// What an operation's lowering works with: its operands as Poplar tensors, the
// program it appends to, and the functions of PopLibs by kind.
#pragma once

#include <kernels/Attributes.hpp>
#include <kernels/Expression.hpp>
#include <popart/dataflow.hpp>
#include <popart/graph.hpp>

#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace popart {

struct SessionOptions;

class LoweringContext {
public:
  LoweringContext(poplar::Graph &graph, const SessionOptions &options)
      : graph_(graph), options_(options) {}

  poplar::Graph &graph() { return graph_; }
  // The part of it on one IPU; all of it when the device has one only, or the
  // operation is on none in particular.
  poplar::Graph &graphOf(VGraphId ipu);
  const SessionOptions &options() const { return options_; }

  // Appends what `op` computes to `program`.
  void lower(const Op &op, poplar::program::Sequence &program);

  // The tensors of variables, and the outputs that go to the host when their
  // micro-batch is done. lower() copies such outputs where they are views of a
  // variable, as an update may have changed it by then.
  void addStored(const poplar::Tensor &variable);
  void addReturned(const TensorId &id) { returned_.insert(id); }
  // The same of variables that every micro-batch overwrites, and outputs that
  // may be read after that.
  void addOverwritten(const poplar::Tensor &variable);
  void addReadLate(const TensorId &id) { readLate_.insert(id); }
  // The same for all that a subgraph of the operation that is being lowered
  // computes; returns its outputs.
  std::vector<poplar::Tensor>
  lowerGraph(const Graph &body, const std::vector<poplar::Tensor> &inputs,
             poplar::program::Sequence &program);

  // For the rules, while their operation is being lowered:
  poplar::program::Sequence &program() { return *program_; }
  // What `f` emits goes into `program`.
  template <typename F> void into(poplar::program::Sequence &program, F &&f) {
    auto *outer = std::exchange(program_, &program);
    f();
    program_ = outer;
  }
  poplar::Tensor in(InIndex i) const;
  void setOut(OutIndex i, const poplar::Tensor &tensor);
  // Adds one operation of this kind and returns its outputs.
  std::vector<poplar::Tensor> emit(const std::string &kind,
                                   const kernels::Attributes &attributes,
                                   const std::vector<poplar::Tensor> &inputs,
                                   const poplar::OptionFlags &options = {});
  // An element-wise expression over operands that broadcast to one shape. Where
  // FLOAT and HALF meet, the result has the first operand's type.
  poplar::Tensor emit(const kernels::Expression &expression,
                      const std::vector<poplar::Tensor> &inputs);
  // The same, written over `output`.
  void emitTo(const kernels::Expression &expression,
              const std::vector<poplar::Tensor> &inputs,
              const poplar::Tensor &output);
  // A new variable, spread over the tiles of an IPU (the first when unused):
  // those that compute, or the last numIOTiles, which are for transfers.
  poplar::Tensor addVariable(const TensorInfo &info, VGraphId ipu,
                             const std::string &name,
                             TileSet tiles = TileSet::Compute);
  // A copy that may change, where the tensor lies; all over its IPU where that
  // repeats elements.
  poplar::Tensor duplicate(const poplar::Tensor &tensor,
                           const std::string &name);
  // Constants on the first tile of the operation's IPU: one value everywhere,
  // a list of INT, and a list of a floating-point type.
  poplar::Tensor addConstant(const TensorInfo &info, double value);
  poplar::Tensor addConstant(const std::vector<int> &values);
  poplar::Tensor addConstant(const poplar::Type &type,
                             const std::vector<float> &values);
  // The host's memory for a tensor, by its name.
  const poplar::RemoteBuffer &remoteBuffer(const std::string &name,
                                           const TensorInfo &info);
  const std::string &debugPath() const { return debugPath_; }

  bool hasTensor(const TensorId &id) const { return tensors_.count(id) > 0; }
  const poplar::Tensor &tensor(const TensorId &id) const;
  void setTensor(const TensorId &id, const poplar::Tensor &tensor);

private:
  unsigned firstTile(VGraphId ipu) const;
  // Whether an output must be copied to stay what it is.
  bool isFleeting(const TensorId &id) const;

  poplar::Graph &graph_;
  const SessionOptions &options_;
  std::map<TensorId, poplar::Tensor> tensors_;
  std::set<std::size_t> stored_; // variables of the Poplar graph
  std::set<TensorId> returned_;
  std::set<std::size_t> overwritten_; // variables of the Poplar graph
  std::set<TensorId> readLate_;
  std::map<std::string, poplar::RemoteBuffer> remoteBuffers_;
  std::map<VGraphId, poplar::Graph> ipuGraphs_;
  const Op *op_ = nullptr;
  poplar::program::Sequence *program_ = nullptr;
  std::string debugPath_;
};

} // namespace popart
