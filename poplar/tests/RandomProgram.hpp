// Random programs over a few variables, with slices, transposes and loops.
#pragma once

#include "EngineProgram.hpp"

#include <random>

namespace poplar::test {

class RandomProgram {
public:
  explicit RandomProgram(unsigned seed) : random_(seed) {
    for (int i = 0; i < 4; ++i) {
      matrices_.push_back(
          program.addHostVariable("v" + std::to_string(i), {size, size}, i));
    }
    for (int i = 0; i < 3; ++i) {
      matrices_.push_back(
          program.addTemporary("t" + std::to_string(i), {size, size}));
      program.fill(i, matrices_.back());
    }
    addOperations(12, 0);
    for (int i = 0; i < 4; ++i) {
      bound(matrices_[static_cast<std::size_t>(i)]);
    }
  }

  EngineProgram program;

private:
  static constexpr std::size_t size = 6;

  unsigned pick(unsigned count) {
    return std::uniform_int_distribution<unsigned>(0, count - 1)(random_);
  }

  const Tensor &matrix() { return matrices_[pick(matrices_.size() & 0xff)]; }

  // A view of `rows` x `columns` of some variable.
  Tensor view(std::size_t rows, std::size_t columns) {
    Tensor t = matrix();
    if (pick(3) == 0) {
      t = t.transpose();
    }
    if (pick(6) == 0) {
      t = t.reverse(pick(2));
    }
    if (pick(8) == 0) {
      t = concat(t.slice(2, size), matrix().slice(0, 2));
    }
    const std::size_t row = pick(static_cast<unsigned>(size - rows + 1));
    const std::size_t column = pick(static_cast<unsigned>(size - columns + 1));
    return t.slice(row, row + rows, 0).slice(column, column + columns, 1);
  }

  Tensor broadcastRow(std::size_t rows, std::size_t columns) {
    return view(1, columns).broadcast(static_cast<unsigned>(rows), 0);
  }

  Tensor writeableView(std::size_t rows, std::size_t columns) {
    for (;;) {
      const Tensor t = view(rows, columns);
      if (t.isParallelWriteable()) {
        return t;
      }
    }
  }

  // Keeps values small integers, so that every order of sums is exact.
  void bound(const Tensor &t) {
    program.elementwise("a-8*floor(a*0.125)", {t}, t);
  }

  void addOperations(unsigned count, int depth) {
    for (unsigned i = 0; i < count; ++i) {
      if (depth < 2 && pick(6) == 0) {
        program.repeat(1 + pick(3), [&] { addOperations(4, depth + 1); });
      } else {
        addOperation();
      }
    }
  }

  void addOperation() {
    const bool isWhole = pick(2) == 0;
    const std::size_t rows = isWhole ? size : 1 + pick(size);
    const std::size_t columns = isWhole ? size : 1 + pick(size);
    const Tensor out = writeableView(rows, columns);
    switch (pick(6)) {
    case 0:
      program.copy(view(rows, columns), out);
      break;
    case 1:
      program.elementwise("a+b", {view(rows, columns), view(rows, columns)},
                          out);
      break;
    case 2:
      program.elementwise(
          "relu(a)-b", {view(rows, columns), broadcastRow(rows, columns)}, out);
      break;
    case 3: {
      const std::size_t depth = 1 + pick(3);
      program.matmul(view(rows, depth), view(depth, columns), out);
      bound(out);
      break;
    }
    case 4:
      program.elementwise("1-a", {out}, out);
      break;
    case 5:
      program.copy(view(columns, rows).transpose(), out);
      break;
    }
    if (pick(3) == 0) {
      bound(out);
    }
  }

  std::mt19937 random_;
  std::vector<Tensor> matrices_;
};

} // namespace poplar::test
