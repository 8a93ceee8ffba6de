// "cholesky", "triangularSolve" and "triangularMask": matrices of which one
// triangle counts.
#include "Kinds.hpp"

#include "Reference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"

#include <cmath>

namespace kernels {

namespace {

// The side of the square matrices in the last two dimensions.
std::int64_t requireSquares(std::string_view kind, const TensorType &a) {
  requireFloating(kind, "a", a);
  const auto rank = a.shape.size();
  require(rank >= 2 && a.shape[rank - 1] == a.shape[rank - 2],
          "[{}] a has shape {}; its last two dimensions must be equal", kind,
          support::toString(a.shape));
  return a.shape.back();
}

std::vector<TensorType> inferCholesky(const Attributes &,
                                      std::span<const TensorType> inputs) {
  requireInputCount("cholesky", inputs, 1);
  requireSquares("cholesky", inputs[0]);
  return {inputs[0]};
}

std::vector<TensorType> inferMask(const Attributes &,
                                  std::span<const TensorType> inputs) {
  requireInputCount("triangularMask", inputs, 1);
  requireSquares("triangularMask", inputs[0]);
  return {inputs[0]};
}

std::vector<TensorType> inferSolve(const Attributes &attributes,
                                   std::span<const TensorType> inputs) {
  constexpr auto kind = "triangularSolve";
  requireInputCount(kind, inputs, 2);
  const auto side = requireSquares(kind, inputs[0]);
  const auto &a = inputs[0].shape;
  const auto &b = inputs[1].shape;
  requireType(kind, "b", inputs[1], {inputs[0].type});
  requireRank(kind, "b", inputs[1], a.size());
  require(std::equal(a.begin(), a.end() - 2, b.begin()),
          "[{}] a has shape {} and b {}; all but the last two dimensions must "
          "be equal",
          kind, support::toString(a), support::toString(b));
  const bool isLeft = attributes.getInt("left") != 0;
  const auto given = b[b.size() - (isLeft ? 2 : 1)];
  require(given == side, "[{}] b has {} {}; a has {}", kind, given,
          isLeft ? "rows" : "columns", side);
  return {inputs[1]};
}

// An operand as matrices [group, row, column].
class Matrices {
public:
  explicit Matrices(const View &view) : view_(view), index_(view.shape()) {}

  std::int64_t groups() const {
    return support::elementCount(
        std::span(view_.shape()).first(view_.shape().size() - 2));
  }
  std::int64_t rows() const { return view_.shape()[view_.shape().size() - 2]; }
  std::int64_t columns() const { return view_.shape().back(); }

  double load(std::int64_t group, std::int64_t row, std::int64_t column) {
    return view_.load(at(group, row, column));
  }
  void store(std::int64_t group, std::int64_t row, std::int64_t column,
             double value) {
    view_.store(at(group, row, column), value);
  }

private:
  std::span<const std::int64_t> at(std::int64_t group, std::int64_t row,
                                   std::int64_t column) {
    index_[index_.size() - 1] = column;
    index_[index_.size() - 2] = row;
    for (std::size_t d = index_.size() - 2; d-- > 0;) {
      index_[d] = group % view_.shape()[d];
      group /= view_.shape()[d];
    }
    return index_;
  }

  View view_;
  Shape index_;
};

// l * l' = a, row by row; an upper factor is l'.
void referenceCholesky(const ReferenceCall &call) {
  Matrices a(inputView(call, 0));
  Matrices result(outputView(call, 0));
  const bool isLower = call.signature.attributes.getInt("lower") != 0;
  const std::int64_t n = a.rows();
  std::vector<double> l(static_cast<std::size_t>(n * n));
  const auto at = [&](std::int64_t i, std::int64_t j) -> double & {
    return l[static_cast<std::size_t>(i * n + j)];
  };
  for (std::int64_t g = 0; g < a.groups(); ++g) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) {
        double sum = isLower ? a.load(g, i, j) : a.load(g, j, i);
        for (std::int64_t k = 0; k < j; ++k) {
          sum -= at(i, k) * at(j, k);
        }
        at(i, j) = i == j ? std::sqrt(sum) : sum / at(j, j);
      }
    }
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        const double value = isLower ? at(i, j) : at(j, i);
        result.store(g, i, j, (isLower ? j <= i : i <= j) ? value : 0);
      }
    }
  }
}

void referenceMask(const ReferenceCall &call) {
  const auto &attributes = call.signature.attributes;
  Matrices a(inputView(call, 0));
  Matrices result(outputView(call, 0));
  const bool isLower = attributes.getInt("lower") != 0;
  const bool isUnit = attributes.getInt("unitDiagonal") != 0;
  for (std::int64_t g = 0; g < a.groups(); ++g) {
    for (std::int64_t i = 0; i < a.rows(); ++i) {
      for (std::int64_t j = 0; j < a.rows(); ++j) {
        const bool isKept = isLower ? j <= i : i <= j;
        const double value = isKept ? a.load(g, i, j) : 0;
        result.store(g, i, j, isUnit && i == j ? 1 : value);
      }
    }
  }
}

// x with a * x = b, or x * a = b, one column or row of b after the other.
void referenceSolve(const ReferenceCall &call) {
  const auto &attributes = call.signature.attributes;
  Matrices a(inputView(call, 0));
  Matrices b(inputView(call, 1));
  Matrices x(outputView(call, 0));
  const bool isLeft = attributes.getInt("left") != 0;
  const bool isLower = attributes.getInt("lower") != 0;
  const bool isUnit = attributes.getInt("unitDiagonal") != 0;
  const std::int64_t n = a.rows();
  // Unknowns depend on those before them, counted from the end for an upper
  // matrix at the left and a lower one at the right.
  const bool isForward = isLeft == isLower;
  std::vector<double> solved(static_cast<std::size_t>(n));
  for (std::int64_t g = 0; g < a.groups(); ++g) {
    for (std::int64_t c = 0; c < (isLeft ? b.columns() : b.rows()); ++c) {
      for (std::int64_t step = 0; step < n; ++step) {
        const auto i = isForward ? step : n - 1 - step;
        double sum = isLeft ? b.load(g, i, c) : b.load(g, c, i);
        for (std::int64_t before = 0; before < step; ++before) {
          const auto j = isForward ? before : n - 1 - before;
          sum -= (isLeft ? a.load(g, i, j) : a.load(g, j, i)) *
                 solved[static_cast<std::size_t>(j)];
        }
        sum /= isUnit ? 1 : a.load(g, i, i);
        solved[static_cast<std::size_t>(i)] = sum;
      }
      for (std::int64_t i = 0; i < n; ++i) {
        x.store(g, isLeft ? i : c, isLeft ? c : i,
                solved[static_cast<std::size_t>(i)]);
      }
    }
  }
}

} // namespace

const Kind &choleskyKind() {
  static const Kind kind{"cholesky", inferCholesky, referenceCholesky,
                         choleskyKernels()};
  return kind;
}

const Kind &triangularMaskKind() {
  static const Kind kind{"triangularMask", inferMask, referenceMask,
                         triangularMaskKernels()};
  return kind;
}

const Kind &triangularSolveKind() {
  static const Kind kind{"triangularSolve", inferSolve, referenceSolve,
                         triangularSolveKernels()};
  return kind;
}

} // namespace kernels
