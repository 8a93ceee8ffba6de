// Hand-built graphs and programs for the tests of the model.
#pragma once

#include <poplar/internal/GraphData.hpp>
#include <poplar/internal/ProgramNode.hpp>
#include <poplar/internal/TargetData.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace poplar::testing {

using namespace poplar::internal;

inline TargetData smallTarget(unsigned ipus, unsigned tilesPerIpu) {
  TargetData target;
  target.numIPUs = ipus;
  target.tilesPerIPU = tilesPerIpu;
  return target;
}

// A graph under construction. Tiles and elements as in the model's own types.
struct ModelGraph {
  GraphData data;

  explicit ModelGraph(TargetData target) {
    data.target = std::make_shared<const TargetData>(std::move(target));
  }

  VariableId addVariable(std::int64_t elements, MappingPiece piece,
                         std::string name = {}) {
    Variable variable;
    variable.shape = {elements};
    variable.debugPath = std::move(name);
    piece.begin = 0;
    piece.end = elements;
    variable.mapping.set(piece);
    data.variables.push_back(std::move(variable));
    return VariableId(data.variables.size() - 1);
  }

  TensorView view(VariableId id) const {
    const Variable &variable = data.variables[id.index()];
    return {
        variable.type, variable.shape, {{id, 0, {variable.elements()}, {1}}}};
  }

  TensorView slice(VariableId id, std::int64_t begin, std::int64_t end) const {
    const Variable &variable = data.variables[id.index()];
    return {variable.type, {end - begin}, {{id, begin, {end - begin}, {1}}}};
  }

  // A compute set with one group; `reads` and `writes` are whole variables.
  ProgramPtr execute(std::string name, std::vector<GroupPhase> phases,
                     const std::vector<VariableId> &reads = {},
                     const std::vector<VariableId> &writes = {}) {
    VertexGroup group;
    group.debugPath = name;
    group.phases = std::move(phases);
    for (const VariableId id : reads) {
      group.inputs.push_back(view(id));
    }
    for (const VariableId id : writes) {
      group.outputs.push_back(view(id));
    }
    ComputeSetData computeSet;
    computeSet.debugPath = std::move(name);
    computeSet.groups.push_back(std::move(group));
    data.computeSets.push_back(std::move(computeSet));
    return make(ExecuteNode{ComputeSetId(data.computeSets.size() - 1)});
  }

  // A type of user vertex without a codelet file: the model runs none.
  std::uint32_t addType(VertexType type) {
    auto file = std::make_shared<CodeletFile>();
    file->types.push_back(std::move(type));
    data.vertices.types.push_back(file->types.data());
    data.vertices.codelets.push_back(std::move(file));
    return static_cast<std::uint32_t>(data.vertices.types.size() - 1);
  }

  ComputeSetId addComputeSet(std::string name) {
    data.computeSets.emplace_back().debugPath = std::move(name);
    return ComputeSetId(data.computeSets.size() - 1);
  }

  // `slots` has one entry for each field of the type.
  VertexId addVertex(ComputeSetId computeSet, std::uint32_t type, unsigned tile,
                     const std::vector<FieldSlot> &slots,
                     std::uint64_t cycles = VertexData::noEstimate) {
    VertexTable &table = data.vertices;
    table.vertices.push_back({.type = type,
                              .computeSet = computeSet,
                              .tile = tile,
                              .firstSlot = table.slots.size(),
                              .cycles = cycles});
    table.slots.insert(table.slots.end(), slots.begin(), slots.end());
    const VertexId id(table.vertices.size() - 1);
    data.computeSets[computeSet.index()].vertices.push_back(id);
    return id;
  }

  static FieldSlot run(VariableId variable, std::int64_t begin,
                       std::int64_t count) {
    return {FieldSlot::Kind::Run, variable.value, begin, count};
  }
  FieldSlot viewSlot(TensorView view) {
    VertexTable &table = data.vertices;
    const std::int64_t count = view.elements();
    table.views.push_back(std::move(view));
    return {FieldSlot::Kind::View,
            static_cast<std::uint32_t>(table.views.size() - 1), 0, count};
  }
  FieldSlot listSlot(std::vector<FieldSlot> entries) {
    VertexTable &table = data.vertices;
    const auto count = static_cast<std::int64_t>(entries.size());
    table.lists.push_back(std::move(entries));
    return {FieldSlot::Kind::List,
            static_cast<std::uint32_t>(table.lists.size() - 1), 0, count};
  }

  StreamId addStream(std::string handle, std::int64_t elements, bool isInput) {
    data.streams.push_back({.handle = std::move(handle),
                            .elements = elements,
                            .isHostToDevice = isInput});
    return StreamId(data.streams.size() - 1);
  }

  template <typename Op> static ProgramPtr make(Op op, std::string name = {}) {
    return std::make_shared<const ProgramNode>(
        ProgramNode{std::move(op), std::move(name)});
  }
  static ProgramPtr sequence(std::vector<ProgramPtr> children) {
    return make(SequenceNode{std::move(children)});
  }
  static ProgramPtr repeat(std::uint64_t count, ProgramPtr body) {
    return make(RepeatNode{count, std::move(body)});
  }
  ProgramPtr copy(VariableId from, VariableId to) const {
    return make(CopyNode{view(from), view(to)});
  }
};

inline VertexField edge(std::string name, EdgeDirection direction,
                        FieldShape shape = FieldShape::Vector,
                        FieldLayout layout = FieldLayout::Span) {
  VertexField field;
  field.name = std::move(name);
  field.direction = direction;
  field.shape = shape;
  field.layout = layout;
  return field;
}

inline VertexField value(std::string name, support::DataType type,
                         std::uint32_t count = 1) {
  VertexField field;
  field.name = std::move(name);
  field.type = type;
  field.count = count;
  return field;
}

inline VertexType vertexType(std::string name, std::vector<VertexField> fields,
                             VertexBase base = VertexBase::Worker) {
  VertexType type;
  type.name = std::move(name);
  type.base = base;
  type.fields = std::move(fields);
  return type;
}

inline VertexUse worker(std::string type, std::uint32_t count,
                        std::uint64_t cycles) {
  VertexUse use;
  use.type = std::move(type);
  use.count = count;
  use.cycles = cycles;
  return use;
}

inline VertexUse supervisor(std::string type, std::uint32_t count,
                            std::uint64_t cycles) {
  VertexUse use = worker(std::move(type), count, cycles);
  use.isSupervisor = true;
  return use;
}

inline TileRun tiles(unsigned first, unsigned count,
                     std::vector<VertexUse> vertices) {
  TileRun run;
  run.firstTile = first;
  run.tileCount = count;
  run.vertices = std::move(vertices);
  return run;
}

} // namespace poplar::testing
