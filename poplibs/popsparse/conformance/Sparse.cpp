// Sparse products, layers and tables for the conformance tests. The sparse
// matrix comes as parameters: all its elements, and the blocks it is cut into.
#include "Libraries.hpp"

#include <popsparse/Embedding.hpp>
#include <popsparse/FullyConnected.hpp>
#include <popsparse/MatMul.hpp>
#include <popsparse/SparsePartitioner.hpp>
#include <popsparse/codelets.hpp>

#include <poputil/TileMapping.hpp>

#include <algorithm>

namespace conformance {
namespace {

namespace dynamic = popsparse::dynamic;
namespace static_ = popsparse::static_;

using Sizes = std::array<std::size_t, 2>;

Sizes sizesOf(const Call &call, const std::string &name) {
  const auto sizes = call.get<std::vector<std::int64_t>>(name);
  return {static_cast<std::size_t>(sizes.at(0)),
          static_cast<std::size_t>(sizes.at(1))};
}

// Blocks that have a value besides 0, last ones first.
popsparse::COOMatrix<float> coordinatesOf(const Call &call) {
  const auto [rows, columns] = sizesOf(call, "shape");
  const auto values = call.get<std::vector<double>>("matrix");
  popsparse::COOMatrix<float> matrix(sizesOf(call, "block"));
  const std::size_t height = matrix.getNumRowsInBlock();
  const std::size_t width = matrix.getNumColumnsInBlock();
  for (std::size_t row = rows; row > 0;) {
    row -= height;
    for (std::size_t column = columns; column > 0;) {
      column -= width;
      std::vector<float> block;
      for (std::size_t i = 0; i < height * width; ++i) {
        const std::size_t at = (row + i / width) * columns + column + i % width;
        block.push_back(static_cast<float>(values.at(at)));
      }
      if (std::any_of(block.begin(), block.end(),
                      [](float value) { return value != 0; })) {
        matrix.nzValues.insert(matrix.nzValues.end(), block.begin(),
                               block.end());
        matrix.rowIndices.push_back(row);
        matrix.columnIndices.push_back(column);
      }
    }
  }
  return matrix;
}

dynamic::SparsityParams sparsityOf(const Call &call) {
  const Sizes block = sizesOf(call, "block");
  return {block == Sizes{1, 1} ? dynamic::SparsityType::Element
                               : dynamic::SparsityType::Block,
          dynamic::SparsityStructure::Unstructured, block};
}

// Fills a tensor with numbers from the host before the operation.
template <typename T, typename U>
void fill(Call &call, const poplar::Tensor &tensor,
          const std::vector<U> &values) {
  const std::vector<T> data(values.begin(), values.end());
  const auto constant = call.graph().addConstant(
      tensor.elementType(), tensor.shape(), poplar::ArrayRef<T>(data));
  poputil::mapTensorLinearly(call.graph(), constant);
  call.program().add(poplar::program::Copy(constant, tensor));
}

// By way of the format that the row asks for.
template <typename Params>
void fillSparse(Call &call, const Params &params,
                const dynamic::SparseTensor &tensor) {
  const dynamic::Partitioner<float> partitioner(
      params, poplar::FLOAT, call.graph().getTarget(), call.options());
  auto data = partitioner.createSparsityDataImpl(coordinatesOf(call));
  const auto format = call.get<std::string>("format", std::string("COO"));
  if (format == "CSR") {
    data = partitioner.createSparsityDataImpl(
        partitioner.sparsityDataImplToCSRMatrix(data));
  } else if (format == "CSC") {
    data = partitioner.createSparsityDataImpl(
        partitioner.sparsityDataImplToCSCMatrix(data));
  }
  fill<unsigned short>(call, tensor.getMetaInfoTensor(), data.metaInfo);
  fill<float>(call, tensor.getNzValuesTensor(), data.nzValues);
}

void sparseDense(Call &call) {
  popsparse::addCodelets(call.graph());
  const auto [m, k] = sizesOf(call, "shape");
  const auto &rhs = call.tensor("rhs");
  const auto params = dynamic::MatMulParams::createWithNzRatio(
      sparsityOf(call), call.get<double>("ratio"), 1, m, k, rhs.dim(2));
  const auto lhs = dynamic::createSparseDenseMatMulLHS(
      call.graph(), rhs.elementType(), params, {}, call.options());
  fillSparse(call, params, lhs);
  call.output("out",
              dynamic::sparseDenseMatMul(call.graph(), lhs, rhs, call.program(),
                                         call.get<bool>("transposeLHS", false),
                                         call.get<bool>("transposeRHS", false),
                                         {}, call.options()));
}

dynamic::FullyConnectedParams layerOf(const Call &call, std::size_t batch) {
  const auto [outputs, inputs] = sizesOf(call, "shape");
  return dynamic::FullyConnectedParams::createWithNzRatio(
      sparsityOf(call), call.get<double>("ratio"), batch, 1, inputs, outputs);
}

// The gradient of the weights comes back dense: what is not there is 0.
void fullyConnected(Call &call) {
  auto &graph = call.graph();
  auto &prog = call.program();
  popsparse::addCodelets(graph);
  const auto &x = call.tensor("x");
  const auto &dy = call.tensor("dy");
  const auto params = layerOf(call, x.dim(0));
  const auto weights =
      dynamic::createFullyConnectedWeights(graph, x.elementType(), params);
  fillSparse(call, params, weights);
  call.output("y", dynamic::fullyConnectedFwd(graph, weights, x, params, prog));
  call.output("dx",
              dynamic::fullyConnectedGradA(graph, weights, dy, params, prog));
  const dynamic::SparseTensor gradient(
      weights.getMetaInfoTensor(),
      dynamic::fullyConnectedSparseGradW(graph, weights.getMetaInfoTensor(), dy,
                                         x, params, prog));
  // Every row of it, by the other way there is.
  std::vector<unsigned> rows(params.getOutputChannels());
  for (unsigned i = 0; i < rows.size(); ++i) {
    rows[i] = i;
  }
  const auto indices = dynamic::createIndicesTensor(graph, params, rows.size());
  fill<unsigned>(call, indices, rows);
  call.output("dw",
              dynamic::embeddingSlice(graph, gradient, indices, prog, params));
}

void embedding(Call &call) {
  auto &graph = call.graph();
  auto &prog = call.program();
  popsparse::addCodelets(graph);
  const auto &indices = call.tensor("indices");
  const auto &slices = call.tensor("slices");
  const auto params = layerOf(call, 1);
  const auto table =
      dynamic::createFullyConnectedWeights(graph, slices.elementType(), params);
  fillSparse(call, params, table);
  call.output("before",
              dynamic::embeddingSlice(graph, table, indices, prog, params));
  const auto scale =
      graph.addConstant(slices.elementType(), {}, call.get<float>("scale"));
  graph.setTileMapping(scale, 0);
  dynamic::embeddingUpdateAdd(graph, table, slices, indices, scale, prog,
                              params);
  call.output("after",
              dynamic::embeddingSlice(graph, table, indices, prog, params));
}

// The matrix in compressed rows.
popsparse::CSRMatrix<float> rowsOf(const Call &call) {
  const auto [rows, columns] = sizesOf(call, "shape");
  const auto params = dynamic::MatMulParams::createWithNzRatio(
      sparsityOf(call), 1.0, 1, rows, columns, 1);
  const dynamic::Partitioner<float> partitioner(params, poplar::FLOAT,
                                                poplar::Target(), {});
  return partitioner.sparsityDataImplToCSRMatrix(
      partitioner.createSparsityDataImpl(coordinatesOf(call)));
}

void fillStatic(Call &call, const static_::MatMulParams &params,
                const static_::SparseTensor &tensor) {
  const static_::Partitioner<float> partitioner(
      params, poplar::FLOAT, call.graph().getTarget(), call.options());
  fill<float>(call, tensor.getNzValuesTensor(),
              partitioner.createSparsityDataImpl(coordinatesOf(call)));
}

void staticSparseDense(Call &call) {
  popsparse::addCodelets(call.graph());
  const auto [m, k] = sizesOf(call, "shape");
  const auto &rhs = call.tensor("rhs");
  const auto params =
      static_::MatMulParams::createForSparseDense(1, m, k, rhs.dim(2));
  const auto lhs = static_::createSparseDenseMatMulLHS(
      call.graph(), rhs.elementType(), params, rowsOf(call), {},
      call.options());
  fillStatic(call, params, lhs);
  call.output("out",
              static_::sparseDenseMatMul(call.graph(), lhs, rhs, call.program(),
                                         call.get<bool>("transposeLHS", false),
                                         call.get<bool>("transposeRHS", false),
                                         {}, call.options()));
}

void staticDenseSparse(Call &call) {
  popsparse::addCodelets(call.graph());
  const auto [k, n] = sizesOf(call, "shape");
  const auto &lhs = call.tensor("lhs");
  const auto params =
      static_::MatMulParams::createForDenseSparse(1, lhs.dim(1), k, n);
  const auto rhs = static_::createDenseSparseMatMulRHS(
      call.graph(), lhs.elementType(), params, rowsOf(call), {},
      call.options());
  fillStatic(call, params, rhs);
  call.output("out",
              static_::denseSparseMatMul(call.graph(), lhs, rhs, call.program(),
                                         call.get<bool>("transposeLHS", false),
                                         call.get<bool>("transposeRHS", false),
                                         {}, call.options()));
}

} // namespace

void addPopsparse(Operations &operations) {
  operations["popsparse.dynamic.sparseDenseMatMul"] = sparseDense;
  operations["popsparse.dynamic.fullyConnected"] = fullyConnected;
  operations["popsparse.dynamic.embedding"] = embedding;
  operations["popsparse.static_.sparseDenseMatMul"] = staticSparseDense;
  operations["popsparse.static_.denseSparseMatMul"] = staticDenseSparse;
}

} // namespace conformance
