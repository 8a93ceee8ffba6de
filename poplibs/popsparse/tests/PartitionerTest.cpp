// Matrices in three formats, and what a partitioner makes of them.
#include <popsparse/SparsePartitioner.hpp>

#include <poplar/Target.hpp>
#include <poputil/exceptions.hpp>

#include <gtest/gtest.h>

namespace {

using namespace popsparse;
using namespace popsparse::dynamic;
using poputil::poplibs_error;
using Indices = std::vector<std::size_t>;

// 4 x 6 in blocks of 2 x 3, of which two are there:
//   . . .   1 2 3
//   . . .   4 5 6
//   7 8 9   . . .
//   1 0 1   . . .
const std::array<std::size_t, 2> block = {{2, 3}};
const std::vector<double> upper = {1, 2, 3, 4, 5, 6};
const std::vector<double> lower = {7, 8, 9, 1, 0, 1};

std::vector<double> joined(std::vector<double> a,
                           const std::vector<double> &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

MatMulParams roomFor(std::size_t blocks) {
  return MatMulParams::createWithNumNonZeroValues(
      {SparsityType::Block, SparsityStructure::Unstructured, block}, blocks * 6,
      1, 4, 6, 2);
}

Partitioner<double> makePartitioner(std::size_t blocks) {
  return {roomFor(blocks), poplar::FLOAT, poplar::Target(), {}};
}

TEST(Partitioner, TakesAllFormats) {
  const auto partitioner = makePartitioner(2);
  const COOMatrix<double> coordinates(joined(lower, upper), {0, 3}, {2, 0},
                                      block);
  const CSRMatrix<double> rows(joined(upper, lower), {3, 0}, {0, 6, 12}, block);
  const CSCMatrix<double> columns(joined(lower, upper), {0, 6, 12}, {2, 0},
                                  block);
  const auto data = partitioner.createSparsityDataImpl(coordinates);
  // Rows of the blocks, then columns, both in blocks.
  EXPECT_EQ(data.metaInfo, (Indices{0, 1, 1, 0}));
  EXPECT_EQ(data.nzValues, joined(upper, lower));
  for (const auto &other : {partitioner.createSparsityDataImpl(rows),
                            partitioner.createSparsityDataImpl(columns)}) {
    EXPECT_EQ(other.metaInfo, data.metaInfo);
    EXPECT_EQ(other.nzValues, data.nzValues);
  }
}

TEST(Partitioner, GivesMatricesBack) {
  const auto partitioner = makePartitioner(4); // two stay empty
  const auto data = partitioner.createSparsityDataImpl(
      COOMatrix<double>(joined(lower, upper), {0, 3}, {2, 0}, block));
  ASSERT_EQ(data.metaInfo.size(), 8U);
  ASSERT_EQ(data.nzValues.size(), 24U);
  const auto coordinates = partitioner.sparsityDataImplToCOOMatrix(data);
  EXPECT_EQ(coordinates.rowIndices, (Indices{0, 2}));
  EXPECT_EQ(coordinates.columnIndices, (Indices{3, 0}));
  EXPECT_EQ(coordinates.nzValues, joined(upper, lower));
  const auto rows = partitioner.sparsityDataImplToCSRMatrix(data);
  EXPECT_EQ(rows.rowIndices, (Indices{0, 6, 12}));
  EXPECT_EQ(rows.columnIndices, (Indices{3, 0}));
  EXPECT_EQ(rows.nzValues, joined(upper, lower));
  const auto columns = partitioner.sparsityDataImplToCSCMatrix(data);
  EXPECT_EQ(columns.columnIndices, (Indices{0, 6, 12}));
  EXPECT_EQ(columns.rowIndices, (Indices{2, 0}));
  EXPECT_EQ(columns.nzValues, joined(lower, upper));
  EXPECT_EQ(columns.blockDimensions, block);
}

TEST(Partitioner, RejectsWhatIsNoSuchMatrix) {
  const auto partitioner = makePartitioner(1);
  const auto reject = [&](const auto &matrix) {
    EXPECT_THROW(partitioner.createSparsityDataImpl(matrix), poplibs_error);
  };
  using Coordinates = COOMatrix<double>;
  reject(Coordinates(joined(lower, upper), {0, 3}, {2, 0}, block)); // no room
  reject(Coordinates(upper, {0}, {4}, block));                      // outside
  reject(Coordinates(upper, {1}, {0}, block));          // between blocks
  reject(Coordinates({1}, {0}, {0}));                   // other blocks
  reject(Coordinates({1, 2}, {0}, {0}, block));         // not a whole block
  reject(CSRMatrix<double>(upper, {0}, {0, 6}, block)); // a row is missing
  reject(CSRMatrix<double>(upper, {0}, {0, 9, 6}, block));
  reject(CSCMatrix<double>(upper, {0, 3, 6}, {0}, block));
  EXPECT_THROW(partitioner.sparsityDataImplToCSRMatrix({{2, 0}, upper}),
               poplibs_error);
  EXPECT_THROW(partitioner.sparsityDataImplToCSCMatrix({{0, 0}, {1, 2}}),
               poplibs_error);
  const auto two = makePartitioner(2);
  EXPECT_THROW(two.createSparsityDataImpl(
                   Coordinates(joined(lower, upper), {0, 0}, {2, 2}, block)),
               poplibs_error);
}

TEST(SparseParams, CountWholeBlocks) {
  const SparsityParams sparsity(SparsityType::Block,
                                SparsityStructure::Unstructured, block);
  const auto params =
      FullyConnectedParams::createWithNzRatio(sparsity, 0.3, 8, 1, 6, 4);
  EXPECT_EQ(params.getNumNonZeroValues(), 12U); // 2 of 4 blocks
  EXPECT_DOUBLE_EQ(params.getNzRatio(), 0.5);
  EXPECT_THROW(
      MatMulParams::createWithNumNonZeroValues(sparsity, 7, 1, 4, 6, 2),
      poplibs_error);
  EXPECT_THROW(MatMulParams::createWithNzRatio(sparsity, 0.3, 2, 4, 6, 2),
               poplibs_error);
  EXPECT_THROW(MatMulParams::createWithNzRatio(
                   SparsityParams(SparsityType::Element,
                                  SparsityStructure::Unstructured, block),
                   0.3, 1, 4, 6, 2),
               poplibs_error);
}

} // namespace
