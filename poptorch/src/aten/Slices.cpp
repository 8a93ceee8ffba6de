// Parts of tensors and tensors of parts: slices, joins, repetitions, padding
// and triangles.
#include "AtenTable.hpp"
#include "Parts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace poptorch {
namespace {

using popart::Attributes;
using popart::DataType;
using popart::TensorId;

// slice(x, dim, start, end, step), the bounds as Python has them.
struct Bounds {
  std::int64_t dim, start, end, step;
};

Bounds boundsOf(CallLowering &call, const popart::Shape &shape,
                std::size_t first) {
  Bounds bounds{};
  bounds.dim = dimOf(call, first, static_cast<popart::Rank>(shape.size()));
  auto size = shape[static_cast<std::size_t>(bounds.dim)];
  auto inside = [size](std::int64_t i) {
    return std::clamp<std::int64_t>(i < 0 ? i + size : i, 0, size);
  };
  bounds.start = call.isNone(first + 1) ? 0 : inside(call.integer(first + 1));
  bounds.end = call.isNone(first + 2) ? size : inside(call.integer(first + 2));
  bounds.step = call.isNone(first + 3) ? 1 : call.integer(first + 3);
  if (bounds.start == bounds.end && size > 0) {
    call.fail("The start and end of a slice must be different.");
  }
  if (bounds.start > bounds.end) {
    call.fail(fmt::format("A slice from {} to {} is not supported",
                          bounds.start, bounds.end));
  }
  return bounds;
}

void lowerSlice(CallLowering &call) {
  TensorId x = call.tensor(0);
  Bounds b = boundsOf(call, call.shape(x), 1);
  call.setResult(0, sliced(call, x, b.dim, b.start, b.end, b.step));
}

// select(x, dim, index)
void lowerSelect(CallLowering &call) {
  TensorId x = call.tensor(0);
  auto dim = dimOf(call, 1, call.rank(x));
  auto size = call.shape(x)[static_cast<std::size_t>(dim)];
  auto i =
      CallLowering::normalise(call.integer(2), static_cast<popart::Rank>(size));
  call.setResult(0, call.reshape(sliced(call, x, dim, i, i + 1),
                                 call.resultInfo().shape()));
}

// split and unbind: what each part has along the dimension says where it is.
void lowerSplit(CallLowering &call) {
  TensorId x = call.tensor(0);
  bool isUnbind = call.call().op == "aten::unbind.int";
  auto dim = dimOf(call, isUnbind ? 1 : 2, call.rank(x));
  std::int64_t start = 0;
  for (std::size_t i = 0; i < call.call().results.size(); ++i) {
    const popart::Shape &shape = call.resultInfo(i).shape();
    auto end = start + (isUnbind ? 1 : shape[static_cast<std::size_t>(dim)]);
    call.setResult(i, call.reshape(sliced(call, x, dim, start, end), shape));
    start = end;
  }
}

// The tensors of a list in the result's type, without those of no elements that
// old programs start with.
std::vector<TensorId> partsOf(CallLowering &call) {
  std::vector<TensorId> parts;
  for (const TensorId &part : call.tensors(0)) {
    if (call.shape(part) != popart::Shape{0}) {
      parts.push_back(call.cast(part, call.resultInfo().dataType()));
    }
  }
  return parts;
}

void lowerCat(CallLowering &call) {
  auto rank = static_cast<popart::Rank>(call.resultInfo().shape().size());
  call.setResult(0, joined(call, partsOf(call), dimOf(call, 1, rank)));
}

void lowerStack(CallLowering &call) {
  const popart::Shape &shape = call.resultInfo().shape();
  auto dim = dimOf(call, 1, static_cast<popart::Rank>(shape.size()));
  std::vector<TensorId> parts = partsOf(call);
  for (TensorId &part : parts) {
    part = call.reshape(part, withSize(shape, dim, 1));
  }
  call.setResult(0, joined(call, parts, dim));
}

void lowerExpand(CallLowering &call) {
  call.setResult(0, expanded(call, call.tensor(0), call.resultInfo().shape()));
}

// repeat(x, repeats), more of which there may be than dimensions.
void lowerRepeat(CallLowering &call) {
  TensorId x = call.tensor(0);
  auto repeats = call.integers(1);
  popart::Shape shape = call.shape(x);
  shape.insert(shape.begin(), repeats.size() - shape.size(), 1);
  auto count = static_cast<std::int64_t>(repeats.size());
  call.setResult(
      0, call.add("Tile",
                  {call.reshape(x, shape), call.constant(repeats, {count})}, {},
                  6));
}

void lowerFlip(CallLowering &call) {
  TensorId x = withDims(call, call.tensor(0));
  for (std::int64_t dim : call.integers(1)) {
    x = reversed(call, x, CallLowering::normalise(dim, call.rank(x)));
  }
  call.setResult(0, x);
}

// roll(x, shifts, dims); without dims all elements in a row.
void lowerRoll(CallLowering &call) {
  TensorId x = call.tensor(0);
  auto shifts = call.integers(1);
  auto dims = call.integers(2);
  if (dims.empty()) {
    x = call.reshape(x, {call.info(x).nelms()});
    dims = {0};
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    auto dim = CallLowering::normalise(dims[i], call.rank(x));
    auto size = call.shape(x)[static_cast<std::size_t>(dim)];
    auto shift = ((shifts[i] % size) + size) % size;
    if (shift != 0) {
      x = joined(call,
                 {sliced(call, x, dim, size - shift, size),
                  sliced(call, x, dim, 0, size - shift)},
                 dim);
    }
  }
  call.setResult(0, call.reshape(x, call.resultInfo().shape()));
}

// slice_scatter(x, source, dim, start, end, step): x with a slice replaced.
TensorId withSlice(CallLowering &call, const TensorId &x,
                   const TensorId &source, const Bounds &b) {
  if (b.step == 1) {
    auto size = call.shape(x)[static_cast<std::size_t>(b.dim)];
    std::vector<TensorId> parts;
    if (b.start > 0) {
      parts.push_back(sliced(call, x, b.dim, 0, b.start));
    }
    parts.push_back(source);
    if (b.end < size) {
      parts.push_back(sliced(call, x, b.dim, b.end, size));
    }
    return joined(call, parts, b.dim);
  }
  Ints places;
  for (auto i = b.start; i < b.end; i += b.step) {
    places.push_back(i);
  }
  popart::Shape along(call.shape(x).size(), 1);
  along[static_cast<std::size_t>(b.dim)] =
      static_cast<std::int64_t>(places.size());
  TensorId indices =
      expanded(call, call.constant(places, along), call.shape(source));
  return scattered(call, x, indices, source, b.dim, false);
}

void lowerSliceScatter(CallLowering &call) {
  TensorId x = call.tensor(0);
  Bounds b = boundsOf(call, call.shape(x), 2);
  TensorId source = call.tensorAs(1, call.type(x));
  auto count = (b.end - b.start + b.step - 1) / b.step;
  source = expanded(call, source, withSize(call.shape(x), b.dim, count));
  call.setResult(0, withSlice(call, x, source, b));
}

// select_scatter(x, source, dim, index)
void lowerSelectScatter(CallLowering &call) {
  TensorId x = call.tensor(0);
  auto dim = dimOf(call, 2, call.rank(x));
  auto size = call.shape(x)[static_cast<std::size_t>(dim)];
  auto i =
      CallLowering::normalise(call.integer(3), static_cast<popart::Rank>(size));
  TensorId source = call.tensorAs(1, call.type(x));
  popart::Shape whole = withSize(call.shape(x), dim, 1);
  popart::Shape part = whole;
  part.erase(part.begin() + dim);
  source = call.reshape(expanded(call, source, part), whole);
  call.setResult(0, withSlice(call, x, source, {dim, i, i + 1, 1}));
}

// Where the diagonal's elements are among those of the two dimensions.
Ints diagonalPlaces(std::int64_t rows, std::int64_t columns,
                    std::int64_t offset) {
  Ints places;
  for (std::int64_t i = 0; i < rows; ++i) {
    if (i + offset >= 0 && i + offset < columns) {
      places.push_back(i * columns + i + offset);
    }
  }
  return places;
}

// A matrix's dimensions, (offset, dim1, dim2) from argument `first` on, as the
// last one of what x becomes.
struct Matrix {
  TensorId flat;
  Ints order; // that brought its dimensions last
  popart::Shape shape;
  Ints places; // of the diagonal
};

Matrix matrixOf(CallLowering &call, const TensorId &x, std::size_t first) {
  popart::Rank rank = call.rank(x);
  auto a = dimOf(call, first + 1, rank);
  auto b = dimOf(call, first + 2, rank);
  Matrix matrix;
  for (std::int64_t d : numbersTo(rank)) {
    if (d != a && d != b) {
      matrix.order.push_back(d);
    }
  }
  matrix.order.insert(matrix.order.end(), {a, b});
  TensorId last = call.transpose(x, matrix.order);
  matrix.shape = call.shape(last);
  auto columns = matrix.shape.back();
  auto rows = matrix.shape[matrix.shape.size() - 2];
  matrix.places = diagonalPlaces(rows, columns, call.integer(first));
  popart::Shape flat(matrix.shape.begin(), matrix.shape.end() - 2);
  flat.push_back(rows * columns);
  matrix.flat = call.reshape(last, flat);
  return matrix;
}

void lowerDiagonal(CallLowering &call) {
  Matrix matrix = matrixOf(call, call.tensor(0), 1);
  auto count = static_cast<std::int64_t>(matrix.places.size());
  call.setResult(0, gathered(call, matrix.flat,
                             call.constant(matrix.places, {count}),
                             call.rank(matrix.flat) - 1));
}

// diagonal_scatter(x, source, offset, dim1, dim2)
void lowerDiagonalScatter(CallLowering &call) {
  TensorId x = call.tensor(0);
  Matrix matrix = matrixOf(call, x, 2);
  auto dim = call.rank(matrix.flat) - 1;
  auto count = static_cast<std::int64_t>(matrix.places.size());
  popart::Shape shape = withSize(call.shape(matrix.flat), dim, count);
  TensorId source = expanded(call, call.tensorAs(1, call.type(x)), shape);
  TensorId indices =
      expanded(call, call.constant(matrix.places, {count}), shape);
  TensorId y = call.reshape(
      scattered(call, matrix.flat, indices, source, dim, false), matrix.shape);
  Ints back(matrix.order.size());
  for (std::size_t d = 0; d < back.size(); ++d) {
    back[static_cast<std::size_t>(matrix.order[d])] =
        static_cast<std::int64_t>(d);
  }
  call.setResult(0, call.transpose(y, back));
}

// tril(x, diagonal) and triu: zeros beyond a diagonal of the last dimensions.
void lowerTriangle(CallLowering &call) {
  TensorId x = call.tensor(0);
  const popart::Shape &shape = call.shape(x);
  auto columns = shape.back();
  auto rows = shape[shape.size() - 2];
  bool isLower = call.call().op == "aten::tril";
  std::vector<double> isKept;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      auto d = c - r - call.integer(1);
      isKept.push_back((isLower ? d <= 0 : d >= 0) ? 1 : 0);
    }
  }
  TensorId mask = call.constant(
      isKept, popart::TensorInfo(DataType::BOOL, {rows, columns}));
  call.setResult(0, chosen(call, mask, x, call.scalar(0, call.type(x))));
}

// Pads in torch's order, the last dimension's first.
void lowerPad(CallLowering &call) {
  TensorId x = call.tensor(0);
  auto pads = call.integers(1);
  auto rank = static_cast<std::size_t>(call.rank(x));
  Ints before(rank, 0);
  Ints after(rank, 0);
  for (std::size_t i = 0; i < pads.size() / 2; ++i) {
    before[rank - 1 - i] = pads[2 * i];
    after[rank - 1 - i] = pads[2 * i + 1];
  }
  const std::string &mode = call.popartType();
  double value = mode == "constant" && !call.isNone(2) ? call.real(2) : 0;
  call.setResult(0, padded(call, x, before, after, mode.c_str(), value));
}

} // namespace

std::vector<AtenRow> sliceRows() {
  std::vector<AtenRow> rows = {
      {"aten::slice.Tensor", lowerSlice},
      {"aten::select.int", lowerSelect},
      {"aten::split.Tensor", lowerSplit},
      {"aten::split_with_sizes", lowerSplit},
      {"aten::unsafe_split.Tensor", lowerSplit},
      {"aten::unsafe_split_with_sizes", lowerSplit},
      {"aten::unbind.int", lowerSplit},
      {"aten::cat", lowerCat},
      {"aten::stack", lowerStack},
      {"aten::expand", lowerExpand},
      {"aten::repeat", lowerRepeat},
      {"aten::flip", lowerFlip},
      {"aten::roll", lowerRoll},
      {"aten::slice_scatter", lowerSliceScatter},
      {"aten::select_scatter", lowerSelectScatter},
      {"aten::diagonal", lowerDiagonal},
      {"aten::diagonal_scatter", lowerDiagonalScatter},
      {"aten::tril", lowerTriangle},
      {"aten::triu", lowerTriangle},
      {"aten::constant_pad_nd", lowerPad, "constant"},
  };
  for (const char *rank : {"1d", "2d", "3d"}) {
    rows.push_back(
        {std::string("aten::reflection_pad") + rank, lowerPad, "reflect"});
    rows.push_back(
        {std::string("aten::replication_pad") + rank, lowerPad, "edge"});
  }
  return rows;
}

} // namespace poptorch
