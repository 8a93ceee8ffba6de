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
