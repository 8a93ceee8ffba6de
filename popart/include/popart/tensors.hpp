// The tensors of a graph, by their ids.
#pragma once

#include <popart/debugcontext.hpp>
#include <popart/names.hpp>
#include <popart/tensor.hpp>
#include <popart/tensorinfo.hpp>
#include <popart/variablesettings.hpp>

#include <string>
#include <vector>

namespace popart {

class Graph;
class Scope;

// A view of the graph, which has them.
class Tensors {
public:
  explicit Tensors(Graph &graph) : graph_(&graph) {}

  // Throws popart::error when there is none of that name.
  Tensor *get(const TensorId &id) const;
  bool contains(const TensorId &id) const;
  // The tensor of that name in the scope, or around it; an empty id if there is
  // none.
  TensorId find(const TensorId &id, const Scope &scope) const;
  std::size_t n() const;
  std::vector<TensorId> getAllTensorIds() const;
  std::vector<TensorId> getNoProducerIds() const;
  std::vector<TensorId> getIds(TensorType type) const;
  std::vector<Tensor *> getOfType(TensorType type) const;
  std::vector<Tensor *> getOfType(const std::vector<TensorType> &types) const;
  std::vector<Tensor *> getAll() const;

  void addConstInit(const TensorId &id, const TensorInfo &info,
                    const void *data, const DebugContext &context = {});
  void addVarInit(const TensorId &id, const TensorInfo &info, const void *data,
                  const DebugContext &context = {});
  void addVarInit(const TensorId &id, const TensorInfo &info, const void *data,
                  const VariableSettings &settings,
                  const DebugContext &context = {});
  // A tensor that nothing produces becomes a constant.
  void makeConstInit(const TensorId &id, const void *data);
  void addStream(const TensorId &id, const TensorInfo &info,
                 const DebugContext &context = {});
  void addActGrad(const TensorId &id, const DebugContext &context = {});
  // Nothing may produce or consume it.
  void remove(const TensorId &id);

private:
  Graph *graph_;
};

} // namespace popart
