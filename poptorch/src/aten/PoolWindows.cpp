#include "PoolWindows.hpp"

#include <algorithm>
#include <utility>

namespace poptorch {
namespace {

using popart::Attributes;
using popart::DataType;
using popart::TensorId;

// Element k of a window: the last one where it has no more.
std::int64_t placeOf(const Ints &window, std::int64_t k) {
  auto i = std::min(static_cast<std::size_t>(k), window.size() - 1);
  return window[i];
}

std::int64_t windowsOf(const WindowRow &row) {
  return static_cast<std::int64_t>(row.places.size());
}

// Dimension `dim` becomes two: elements of a window, windows.
TensorId gatheredWindows(CallLowering &call, const TensorId &x,
                         const WindowRow &row, std::int64_t dim) {
  Ints places;
  for (std::int64_t k = 0; k < row.most; ++k) {
    for (const Ints &window : row.places) {
      places.push_back(placeOf(window, k));
    }
  }
  return gathered(call, x, call.constant(places, {row.most, windowsOf(row)}),
                  dim);
}

// [N, C, windows of each dimension, elements of a window].
TensorId allWindows(CallLowering &call, const TensorId &x,
                    const std::vector<WindowRow> &rows) {
  TensorId y = x;
  popart::Shape shape = {call.shape(x)[0], call.shape(x)[1]};
  Ints order = {0, 1};
  std::int64_t elements = 1;
  for (std::size_t d = 0; d < rows.size(); ++d) {
    auto dim = static_cast<std::int64_t>(2 + 2 * d);
    y = gatheredWindows(call, y, rows[d], dim);
    order.push_back(dim + 1);
    shape.push_back(windowsOf(rows[d]));
    elements *= rows[d].most;
  }
  for (std::size_t d = 0; d < rows.size(); ++d) {
    order.push_back(static_cast<std::int64_t>(2 + 2 * d));
  }
  shape.push_back(elements);
  return call.reshape(call.transpose(y, order), shape);
}

// Where elements of windows are in the flattened field, in the order that
// allWindows has them.
Ints flatPlaces(const std::vector<WindowRow> &rows) {
  std::vector<Ints> elements = {{0}}; // by window
  for (const WindowRow &row : rows) {
    std::vector<Ints> next;
    for (const Ints &before : elements) {
      for (const Ints &window : row.places) {
        Ints places;
        for (std::int64_t place : before) {
          for (std::int64_t k = 0; k < row.most; ++k) {
            places.push_back(place * row.size + placeOf(window, k));
          }
        }
        next.push_back(std::move(places));
      }
    }
    elements = std::move(next);
  }
  Ints all;
  for (const Ints &places : elements) {
    all.insert(all.end(), places.begin(), places.end());
  }
  return all;
}

} // namespace

std::size_t fieldRank(const CallLowering &call) {
  const std::string &op = call.call().op;
  return static_cast<std::size_t>(op[op.find("pool") + 4] - '0');
}

TensorId batched(CallLowering &call, const TensorId &x) {
  popart::Shape shape = call.shape(x);
  shape.insert(shape.begin(), fieldRank(call) + 2 - shape.size(), 1);
  return call.reshape(x, shape);
}

void WindowRow::add(Ints window) {
  most = std::max(most, static_cast<std::int64_t>(window.size()));
  places.push_back(std::move(window));
}

WindowRow kernelRow(std::int64_t size, std::int64_t windows,
                    std::int64_t kernel, std::int64_t stride,
                    std::int64_t padding, std::int64_t dilation) {
  WindowRow row{size};
  for (std::int64_t w = 0; w < windows; ++w) {
    Ints window;
    for (std::int64_t k = 0; k < kernel; ++k) {
      auto place = w * stride + k * dilation - padding;
      if (place >= 0 && place < size) {
        window.push_back(place);
      }
    }
    row.add(std::move(window));
  }
  return row;
}

WindowRow adaptiveRow(std::int64_t size, std::int64_t windows) {
  WindowRow row{size};
  for (std::int64_t w = 0; w < windows; ++w) {
    auto start = w * size / windows;
    auto end = ((w + 1) * size + windows - 1) / windows;
    Ints window = numbersTo(end - start);
    for (std::int64_t &place : window) {
      place += start;
    }
    row.add(std::move(window));
  }
  return row;
}

TensorId greatest(CallLowering &call, const TensorId &x,
                  const std::vector<WindowRow> &rows) {
  TensorId windows = allWindows(call, x, rows);
  return reducedOver(call, "ReduceMax", windows, {call.rank(windows) - 1},
                     false);
}

TensorId placesOfGreatest(CallLowering &call, const TensorId &x,
                          const std::vector<WindowRow> &rows) {
  TensorId windows = allWindows(call, x, rows);
  popart::Shape shape = call.shape(windows);
  auto elements = shape.back();
  shape.pop_back();
  TensorId best =
      call.add("ArgMax", {windows},
               Attributes()
                   .set("axis", std::int64_t{call.rank(windows) - 1})
                   .set("keepdims", Attributes::Int{0}));
  best = call.cast(best, DataType::INT32);
  // Windows start at multiples of their size in the table of places.
  Ints table = flatPlaces(rows);
  auto count = static_cast<std::int64_t>(table.size()) / elements;
  Ints starts = numbersTo(count);
  for (std::int64_t &start : starts) {
    start *= elements;
  }
  TensorId at = call.add(
      "Add", {best, call.constant(starts, popart::Shape(shape.begin() + 2,
                                                        shape.end()))});
  return gathered(call, call.constant(table, {count * elements}), at, 0);
}

TensorId means(CallLowering &call, const TensorId &x, const WindowRow &row,
               std::int64_t dim) {
  DataType type = call.type(x);
  auto count = windowsOf(row);
  std::vector<double> isThere;
  std::vector<double> factors;
  for (std::int64_t k = 0; k < row.most; ++k) {
    for (const Ints &window : row.places) {
      isThere.push_back(k < static_cast<std::int64_t>(window.size()) ? 1 : 0);
    }
  }
  for (const Ints &window : row.places) {
    factors.push_back(1 / static_cast<double>(window.size()));
  }
  TensorId windows = gatheredWindows(call, x, row, dim);
  auto behind = static_cast<std::size_t>(call.rank(x) - dim) - 1;
  popart::Shape along = {row.most, count};
  along.resize(2 + behind, 1);
  TensorId mask =
      call.constant(isThere, popart::TensorInfo(DataType::BOOL, along));
  windows = chosen(call, mask, windows, call.scalar(0, type));
  along.erase(along.begin());
  return call.add("Mul",
                  {reducedOver(call, "ReduceSum", windows, {dim}, false),
                   call.constant(factors, popart::TensorInfo(type, along))});
}

} // namespace poptorch
