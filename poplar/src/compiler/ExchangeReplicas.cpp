#include "compiler/ExchangeReplicas.hpp"

#include <poplar/internal/ReplicaExchange.hpp>
#include <support/DataType.hpp>

#include <memory>
#include <utility>

namespace poplar::compiler {
namespace {

using internal::GraphData;
using internal::ProgramNode;
using internal::StreamId;
using internal::TensorView;
using internal::VariableId;

StreamId addStream(GraphData &graph, std::string handle, const TensorView &view,
                   bool isHostToDevice) {
  internal::StreamData stream;
  stream.handle = std::move(handle);
  stream.type = view.type;
  stream.elements = view.elements();
  stream.isHostToDevice = isHostToDevice;
  graph.streams.push_back(std::move(stream));
  return StreamId(graph.streams.size() - 1);
}

} // namespace

TensorView addExchange(GraphData &graph, const TensorView &own,
                       unsigned replicas, const std::string &debugPath,
                       internal::SequenceNode &program) {
  const std::int64_t engines = replicas / graph.replicationFactor;
  internal::Variable variable;
  variable.type = own.type;
  variable.shape = {std::int64_t{replicas},
                    own.elements() * engines / replicas};
  variable.debugPath = debugPath + "/exchanged";
  const std::int64_t elements = own.elements() * engines;
  const TensorView all{
      own.type,
      variable.shape,
      {{VariableId(graph.variables.size()), 0, {elements}, {1}}}};
  graph.variables.push_back(std::move(variable));

  const auto bytes =
      static_cast<std::size_t>(own.elements()) * support::sizeOf(own.type);
  const internal::ExchangeHandles handles =
      internal::exchangeHandles(graph.streams.size(), bytes);
  const StreamId out = addStream(graph, handles.own, own, false);
  const StreamId in = addStream(graph, handles.all, all, true);
  const auto add = [&](decltype(ProgramNode::op) op) {
    program.children.push_back(
        std::make_shared<ProgramNode>(ProgramNode{std::move(op), debugPath}));
  };
  add(internal::StreamOutNode{own, out});
  add(internal::StreamInNode{in, all});
  return all;
}

TensorView exchangedPart(const TensorView &all, unsigned replica) {
  const std::int64_t elements = all.shape[1];
  return {all.type,
          {elements},
          {{all.pieces[0].variable, replica * elements, {elements}, {1}}}};
}

} // namespace poplar::compiler
