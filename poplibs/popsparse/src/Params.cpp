// Parameters of sparse operations, checked when they are made.
#include "MetaData.hpp"

#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <cmath>
#include <tuple>

namespace popsparse {

using poputil::poplibs_error;
using support::requireUser;

namespace {

void requireOneGroup(std::size_t groups, const char *function) {
  requireUser<poplibs_error>(groups == 1,
                             "[popsparse::{}] {} groups given; one is allowed",
                             function, groups);
}

} // namespace

namespace dynamic {

namespace {

void requireMatrix(const SparsityParams &sparsity, std::size_t rows,
                   std::size_t columns, const char *function) {
  TensorMetaData metaData;
  metaData.rows = rows;
  metaData.columns = columns;
  metaData.blockDimensions = sparsity.blockDimensions;
  internal::requireBlocks(metaData, function);
  requireUser<poplibs_error>(
      sparsity.type == SparsityType::Block || metaData.blockSize() == 1,
      "[popsparse::{}] elements in blocks of {}x{} given; blocks are of type "
      "Block",
      function, sparsity.blockDimensions[0], sparsity.blockDimensions[1]);
}

std::size_t nonZerosOf(const SparsityParams &sparsity, double nzRatio,
                       std::size_t rows, std::size_t columns,
                       const char *function) {
  requireMatrix(sparsity, rows, columns, function);
  requireUser<poplibs_error>(nzRatio > 0 && nzRatio <= 1,
                             "[popsparse::{}] a ratio of {} given; more than 0 "
                             "and at most 1 is allowed",
                             function, nzRatio);
  const std::size_t size =
      sparsity.blockDimensions[0] * sparsity.blockDimensions[1];
  const double blocks =
      std::ceil(nzRatio * static_cast<double>(rows * columns / size));
  return static_cast<std::size_t>(blocks) * size;
}

void requireNonZeros(const SparsityParams &sparsity, std::size_t nonZeros,
                     std::size_t rows, std::size_t columns,
                     const char *function) {
  requireMatrix(sparsity, rows, columns, function);
  const std::size_t size =
      sparsity.blockDimensions[0] * sparsity.blockDimensions[1];
  requireUser<poplibs_error>(
      nonZeros > 0 && nonZeros % size == 0 && nonZeros <= rows * columns,
      "[popsparse::{}] {} values given; whole blocks of {}, at least one and "
      "at most {} values, are allowed",
      function, nonZeros, size, rows * columns);
}

double ratioOf(std::size_t nonZeros, std::size_t rows, std::size_t columns) {
  return static_cast<double>(nonZeros) / static_cast<double>(rows * columns);
}

} // namespace

bool operator==(const SparsityParams &a, const SparsityParams &b) {
  return a.type == b.type && a.structure == b.structure &&
         a.blockDimensions == b.blockDimensions;
}

bool operator!=(const SparsityParams &a, const SparsityParams &b) {
  return !(a == b);
}

bool operator<(const SparsityParams &a, const SparsityParams &b) {
  return std::tie(a.type, a.structure, a.blockDimensions) <
         std::tie(b.type, b.structure, b.blockDimensions);
}

std::ostream &operator<<(std::ostream &stream, const SparsityParams &params) {
  return stream << (params.type == SparsityType::Block ? "Block" : "Element")
                << " " << params.blockDimensions[0] << "x"
                << params.blockDimensions[1];
}

MatMulParams MatMulParams::createWithNzRatio(const SparsityParams &sparsity,
                                             double nzRatio, std::size_t groups,
                                             std::size_t m, std::size_t k,
                                             std::size_t n) {
  constexpr const char *function = "dynamic::MatMulParams::createWithNzRatio";
  requireOneGroup(groups, function);
  return {sparsity, nonZerosOf(sparsity, nzRatio, m, k, function), groups, m, k,
          n};
}

MatMulParams MatMulParams::createWithNumNonZeroValues(
    const SparsityParams &sparsity, std::size_t numNonZeroElems,
    std::size_t groups, std::size_t m, std::size_t k, std::size_t n) {
  constexpr const char *function =
      "dynamic::MatMulParams::createWithNumNonZeroValues";
  requireOneGroup(groups, function);
  requireNonZeros(sparsity, numNonZeroElems, m, k, function);
  return {sparsity, numNonZeroElems, groups, m, k, n};
}

double MatMulParams::getNzRatio() const {
  return ratioOf(numNonZeroValues_, m_, k_);
}

FullyConnectedParams FullyConnectedParams::createWithNzRatio(
    const SparsityParams &sparsity, double nzRatio, std::size_t batchSize,
    std::size_t numGroups, std::size_t inputChannels,
    std::size_t outputChannels) {
  constexpr const char *function =
      "dynamic::FullyConnectedParams::createWithNzRatio";
  requireOneGroup(numGroups, function);
  const std::size_t nonZeros =
      nonZerosOf(sparsity, nzRatio, outputChannels, inputChannels, function);
  return {sparsity,  nonZeros,      batchSize,
          numGroups, inputChannels, outputChannels};
}

FullyConnectedParams FullyConnectedParams::createWithNumNonZeroValues(
    const SparsityParams &sparsity, std::size_t numNonZeroElems,
    std::size_t batchSize, std::size_t numGroups, std::size_t inputChannels,
    std::size_t outputChannels) {
  constexpr const char *function =
      "dynamic::FullyConnectedParams::createWithNumNonZeroValues";
  requireOneGroup(numGroups, function);
  requireNonZeros(sparsity, numNonZeroElems, outputChannels, inputChannels,
                  function);
  return {sparsity,  numNonZeroElems, batchSize,
          numGroups, inputChannels,   outputChannels};
}

double FullyConnectedParams::getNzRatio() const {
  return ratioOf(numNonZeroValues_, outputChannels_, inputChannels_);
}

} // namespace dynamic

namespace static_ {

MatMulParams MatMulParams::createForSparseDense(std::size_t groups,
                                                std::size_t m, std::size_t k,
                                                std::size_t n) {
  requireOneGroup(groups, "static_::MatMulParams::createForSparseDense");
  return {true, groups, m, k, n};
}

MatMulParams MatMulParams::createForDenseSparse(std::size_t groups,
                                                std::size_t m, std::size_t k,
                                                std::size_t n) {
  requireOneGroup(groups, "static_::MatMulParams::createForDenseSparse");
  return {false, groups, m, k, n};
}

} // namespace static_
} // namespace popsparse
