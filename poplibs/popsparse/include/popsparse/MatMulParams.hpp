// The shapes of products of a sparse and a dense matrix.
#pragma once

#include <popsparse/SparsityParams.hpp>

#include <cstddef>

namespace popsparse {
namespace dynamic {

// Sparse [m, k] times dense [groups, k, n]. There is one group.
class MatMulParams {
public:
  // Room for this share of the elements, rounded up to blocks.
  static MatMulParams createWithNzRatio(const SparsityParams &sparsityParams,
                                        double nzRatio, std::size_t groups,
                                        std::size_t m, std::size_t k,
                                        std::size_t n);
  // Room for so many elements, which are whole blocks.
  static MatMulParams
  createWithNumNonZeroValues(const SparsityParams &sparsityParams,
                             std::size_t numNonZeroElems, std::size_t groups,
                             std::size_t m, std::size_t k, std::size_t n);

  std::size_t getGroups() const { return groups_; }
  std::size_t getM() const { return m_; }
  std::size_t getK() const { return k_; }
  std::size_t getN() const { return n_; }
  const SparsityParams &getSparsityParams() const { return sparsityParams_; }
  double getNzRatio() const;
  std::size_t getNumNonZeroValues() const { return numNonZeroValues_; }

private:
  MatMulParams(const SparsityParams &sparsityParams, std::size_t numNonZeros,
               std::size_t groups, std::size_t m, std::size_t k, std::size_t n)
      : sparsityParams_(sparsityParams), numNonZeroValues_(numNonZeros),
        groups_(groups), m_(m), k_(k), n_(n) {}

  SparsityParams sparsityParams_;
  std::size_t numNonZeroValues_;
  std::size_t groups_;
  std::size_t m_;
  std::size_t k_;
  std::size_t n_;
};

} // namespace dynamic

namespace static_ {

// [m, k] times [k, n], of which one is sparse. There is one group.
class MatMulParams {
public:
  static MatMulParams createForSparseDense(std::size_t groups, std::size_t m,
                                           std::size_t k, std::size_t n);
  static MatMulParams createForDenseSparse(std::size_t groups, std::size_t m,
                                           std::size_t k, std::size_t n);

  bool isSparseDense() const { return isSparseDense_; }
  bool isDenseSparse() const { return !isSparseDense_; }
  std::size_t getGroups() const { return groups_; }
  std::size_t getM() const { return m_; }
  std::size_t getK() const { return k_; }
  std::size_t getN() const { return n_; }

private:
  MatMulParams(bool isSparseDense, std::size_t groups, std::size_t m,
               std::size_t k, std::size_t n)
      : isSparseDense_(isSparseDense), groups_(groups), m_(m), k_(k), n_(n) {}

  bool isSparseDense_;
  std::size_t groups_;
  std::size_t m_;
  std::size_t k_;
  std::size_t n_;
};

} // namespace static_
} // namespace popsparse
