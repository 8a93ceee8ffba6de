// The matrix-vector lesson (10,000 x 1,000, split into seven column ranges) on
// the `ipu2` model, vertex by vertex as the published profile has it.
#pragma once

#include "ModelGraph.hpp"

namespace poplar::testing {

class MatrixVectorLesson {
public:
  static constexpr std::int64_t rows = 10000;
  static constexpr std::int64_t columns = 1000;
  static constexpr std::int64_t splits = 7;
  static constexpr unsigned tileCount = 1472;
  // The vector and the matrix in, the product out.
  static constexpr std::int64_t hostBytes =
      4 * (columns + rows * columns + rows);

  MatrixVectorLesson() : graph_(target()) {
    matrix_ = graph_.addVariable(rows * columns, {}); // mapped by dots()
    vector_ = graph_.addVariable(columns, {.parts = columns});
    partials_ = graph_.addVariable(splits * rows, {.parts = tileCount});
    result_ = graph_.addVariable(rows, {.parts = tileCount});
    compute_ = ModelGraph::sequence({dots(), reductions()});
    program_ = ModelGraph::sequence({streamIn("vector", vector_),
                                     streamIn("matrix", matrix_), compute_,
                                     streamOut()});
  }

  const GraphData &graph() const { return graph_.data; }
  const ProgramPtr &program() const { return program_; }
  const ProgramPtr &compute() const { return compute_; }

private:
  // The lesson asks for no sync delay.
  static TargetData target() {
    TargetData target;
    target.minSyncDelay = 0;
    target.hasRelativeSyncDelay = false;
    return target;
  }

  ProgramPtr streamIn(const char *name, VariableId id) {
    const StreamId stream = graph_.addStream(name, 0, true);
    return ModelGraph::make(StreamInNode{stream, graph_.view(id)});
  }
  ProgramPtr streamOut() {
    const StreamId stream = graph_.addStream("out", rows, false);
    return ModelGraph::make(StreamOutNode{graph_.view(result_), stream});
  }

  unsigned tileOf(VariableId id, std::int64_t element) const {
    return graph_.data[id].mapping.pieces()[0].partOf(element);
  }

  // Column range by column range, spread evenly, each vertex with its piece of
  // the matrix: the stream of its rows is rearranged on the IPU, which is most
  // of the published exchange.
  ProgramPtr dots() {
    const auto type = graph_.addType(vertexType(
        "DotProductVertex",
        {edge("a", EdgeDirection::Input), edge("b", EdgeDirection::Input),
         edge("out", EdgeDirection::Output, FieldShape::Scalar,
              FieldLayout::None)}));
    const ComputeSetId set = graph_.addComputeSet("mulCS");
    std::vector<MappingPiece> pieces;
    for (std::int64_t split = 0; split < splits; ++split) {
      const std::int64_t begin = columns * split / splits;
      const std::int64_t count = columns * (split + 1) / splits - begin;
      for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t index = split * rows + row;
        const std::int64_t first = row * columns + begin;
        const unsigned tile = tileOf(partials_, index);
        pieces.push_back({first, first + count, tile});
        graph_.addVertex(set, type, tile,
                         {ModelGraph::run(matrix_, first, count),
                          ModelGraph::run(vector_, begin, count),
                          ModelGraph::run(partials_, index, 1)},
                         5 + static_cast<std::uint64_t>(count + 1) / 2);
      }
    }
    graph_.data[matrix_].mapping.set(std::move(pieces));
    return ModelGraph::make(ExecuteNode{set});
  }

  ProgramPtr reductions() {
    const auto type = graph_.addType(vertexType(
        "ReduceVertex", {edge("a", EdgeDirection::Input),
                         edge("out", EdgeDirection::Output, FieldShape::Scalar,
                              FieldLayout::None)}));
    const ComputeSetId set = graph_.addComputeSet("reduceCS");
    for (std::int64_t row = 0; row < rows; ++row) {
      TensorView column{support::DataType::Float,
                        {splits},
                        {{partials_, row, {splits}, {rows}}}};
      graph_.addVertex(set, type, tileOf(result_, row),
                       {graph_.viewSlot(std::move(column)),
                        ModelGraph::run(result_, row, 1)},
                       9);
    }
    return ModelGraph::make(ExecuteNode{set});
  }

  ModelGraph graph_;
  VariableId matrix_;
  VariableId vector_;
  VariableId partials_;
  VariableId result_;
  ProgramPtr compute_;
  ProgramPtr program_;
};

} // namespace poplar::testing
