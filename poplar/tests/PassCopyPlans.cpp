// Copy plans against a loop over every index: strides, element sizes, layouts,
// and the byte ranges that shards declare.
#include "compiler/plans/CopyPlan.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

namespace {

using kernels::Layout;
using kernels::OperandSpec;
using poplar::compiler::makeCopyPlan;
using support::DataType;

// Element of storage for an index of the operand.
std::int64_t elementOf(const OperandSpec &spec,
                       const std::vector<std::int64_t> &index) {
  const auto &shape = spec.shape;
  // Row-major over the pairs {index, extent}.
  const auto at =
      [](std::initializer_list<std::pair<std::int64_t, std::int64_t>> levels) {
        std::int64_t element = 0;
        for (const auto &[i, extent] : levels) {
          element = element * extent + i;
        }
        return element;
      };
  if (spec.layout == Layout::Columns16) {
    return at({{index[1] / 16, 0}, {index[0], shape[0]}, {index[1] % 16, 16}});
  }
  if (spec.layout == Layout::StackedColumns16) {
    return at({{index[0], 0},
               {index[2] / 16, shape[2] / 16},
               {index[1], shape[1]},
               {index[2] % 16, 16}});
  }
  if (spec.layout != Layout::Plain) {
    const auto n = index[0], c = index[1], y = index[2], x = index[3];
    const auto rows = shape[2], columns = shape[3];
    const auto blocked = [&](std::int64_t size) {
      return at({{n, 0},
                 {c / size, shape[1] / size},
                 {y, rows},
                 {x, columns},
                 {c % size, size}});
    };
    const auto inOut = [&](std::int64_t size) {
      return at({{n / size, 0},
                 {c / size, shape[1] / size},
                 {y, rows},
                 {x, columns},
                 {c % size, size},
                 {n % size, size}});
    };
    const auto outIn = [&](std::int64_t size) {
      return at({{n / size, 0},
                 {c / size, shape[1] / size},
                 {y, rows},
                 {x, columns},
                 {n % size, size},
                 {c % size, size}});
    };
    const auto inMajor = [&](std::int64_t size) {
      return at({{c / size, 0},
                 {n / size, shape[0] / size},
                 {y, rows},
                 {x, columns},
                 {n % size, size},
                 {c % size, size}});
    };
    const auto out = [&](std::int64_t size) {
      return at({{n / size, 0},
                 {y, rows},
                 {x, columns},
                 {c, shape[1]},
                 {n % size, size}});
    };
    switch (spec.layout) {
    case Layout::BatchLanes16:
      return at(
          {{n / 16, 0}, {c, shape[1]}, {y, rows}, {x, columns}, {n % 16, 16}});
    case Layout::ChannelBlocked16:
      return blocked(16);
    case Layout::WeightsInOut16:
      return inOut(16);
    case Layout::WeightsOutIn16:
      return outIn(16);
    case Layout::WeightsInMajor16:
      return inMajor(16);
    case Layout::WeightsOut16:
      return out(16);
    case Layout::ChannelBlocked8:
      return blocked(8);
    case Layout::WeightsInOut8:
      return inOut(8);
    case Layout::WeightsOutIn8:
      return outIn(8);
    case Layout::WeightsInMajor8:
      return inMajor(8);
    case Layout::WeightsOut8:
      return out(8);
    case Layout::Plain:
    case Layout::Columns16:
    case Layout::StackedColumns16:
      break;
    }
  }
  return std::inner_product(index.begin(), index.end(), spec.strides.begin(),
                            std::int64_t{0});
}

template <typename F> void forEachIndex(const support::Shape &shape, F &&f) {
  std::vector<std::int64_t> index(shape.size());
  for (std::int64_t i = 0; i < support::elementCount(shape); ++i) {
    std::int64_t rest = i;
    for (std::size_t d = shape.size(); d-- > 0;) {
      index[d] = rest % shape[d];
      rest /= shape[d];
    }
    f(index);
  }
}

// Copies through the plan and by index; compares the whole target, and checks
// that no shard leaves the bytes it declared.
template <typename T>
void expectCopies(OperandSpec source, OperandSpec target) {
  constexpr std::size_t size = 60000, origin = 20000;
  std::vector<T> from(size), expected(size, T(99)), got(size, T(99));
  for (std::size_t i = 0; i < size; ++i) {
    from[i] = static_cast<T>(i % 251);
  }
  if (target.layout != Layout::Plain) {
    std::fill_n(expected.begin() + origin,
                kernels::storageElements(target.layout, target.shape), T(0));
  }
  forEachIndex(source.shape, [&](const std::vector<std::int64_t> &index) {
    expected[origin + static_cast<std::size_t>(elementOf(target, index))] =
        from[origin + static_cast<std::size_t>(elementOf(source, index))];
  });
  const auto plan = makeCopyPlan(source, target);
  std::byte *operands[] = {reinterpret_cast<std::byte *>(&from[origin]),
                           reinterpret_cast<std::byte *>(&got[origin])};
  for (std::uint32_t task = 0; task < plan->tasks().size(); ++task) {
    plan->run(task, operands, {});
  }
  EXPECT_EQ(got, expected);
}

OperandSpec spec(DataType type, support::Shape shape,
                 support::Strides strides) {
  return {type, std::move(shape), std::move(strides)};
}

TEST(PassCopyPlans, CopyStridedWindows) {
  const support::Shape shape = {5, 6, 7};
  const std::vector<support::Strides> strides = {
      {42, 7, 1}, {1, 5, 30}, {7, 35, 1}, {-42, 7, -1}, {100, 13, 2}};
  for (const support::Strides &from : strides) {
    for (const support::Strides &to : strides) {
      expectCopies<float>(spec(DataType::Float, shape, from),
                          spec(DataType::Float, shape, to));
      expectCopies<std::uint8_t>(spec(DataType::Bool, shape, from),
                                 spec(DataType::Bool, shape, to));
      expectCopies<std::uint64_t>(spec(DataType::LongLong, shape, from),
                                  spec(DataType::LongLong, shape, to));
    }
  }
}

TEST(PassCopyPlans, TransposeMatricesOfAnySize) {
  for (std::int64_t rows : {1, 4, 15, 16, 35}) {
    for (std::int64_t columns : {1, 3, 16, 20, 37}) {
      expectCopies<float>(spec(DataType::Float, {rows, columns}, {1, rows}),
                          spec(DataType::Float, {rows, columns}, {columns, 1}));
    }
  }
}

TEST(PassCopyPlans, ReorderToAndFromBatchLanes) {
  for (std::int64_t samples : {3, 16, 21, 32}) {
    const support::Shape shape = {samples, 3, 4, 5};
    const OperandSpec plain = OperandSpec::rowMajor({DataType::Float, shape});
    const OperandSpec channelsLast =
        spec(DataType::Float, shape, {60, 1, 15, 3});
    OperandSpec lanes = plain;
    lanes.layout = Layout::BatchLanes16;
    for (const OperandSpec &other : {plain, channelsLast}) {
      expectCopies<float>(other, lanes);
      expectCopies<float>(lanes, other);
    }
  }
}

TEST(PassCopyPlans, ReorderToAndFromColumnsOfSixteen) {
  for (const std::int64_t columns : {1, 16, 37}) {
    const support::Shape shape = {21, columns};
    const OperandSpec plain = OperandSpec::rowMajor({DataType::Float, shape});
    const OperandSpec transposed = spec(DataType::Float, shape, {1, 21});
    OperandSpec blocked = plain;
    blocked.layout = Layout::Columns16;
    for (const OperandSpec &other : {plain, transposed}) {
      expectCopies<float>(other, blocked);
      expectCopies<float>(blocked, other);
    }
  }
}

TEST(PassCopyPlans, ReorderToAndFromStackedColumns) {
  const support::Shape shape = {3, 21, 48};
  const OperandSpec plain = OperandSpec::rowMajor({DataType::Float, shape});
  const OperandSpec transposed = spec(DataType::Float, shape, {21 * 48, 1, 21});
  OperandSpec blocked = plain;
  blocked.layout = Layout::StackedColumns16;
  for (const OperandSpec &other : {plain, transposed}) {
    expectCopies<float>(other, blocked);
    expectCopies<float>(blocked, other);
  }
}

TEST(PassCopyPlans, ReorderBetweenBlockedLayouts) {
  const support::Shape shape = {32, 48, 3, 2};
  const OperandSpec plain = OperandSpec::rowMajor({DataType::Float, shape});
  const Layout layouts[] = {
      Layout::Plain,          Layout::BatchLanes16,    Layout::ChannelBlocked16,
      Layout::WeightsInOut16, Layout::WeightsOutIn16,  Layout::WeightsInMajor16,
      Layout::WeightsOut16,   Layout::ChannelBlocked8, Layout::WeightsInOut8,
      Layout::WeightsOutIn8,  Layout::WeightsInMajor8, Layout::WeightsOut8};
  for (const Layout from : layouts) {
    for (const Layout to : layouts) {
      OperandSpec source = plain, target = plain;
      source.layout = from;
      target.layout = to;
      expectCopies<float>(source, target);
    }
  }
}

TEST(PassCopyPlans, CutLargeCopiesIntoShardsOfTheirOwnBytes) {
  const OperandSpec whole =
      OperandSpec::rowMajor({DataType::Float, {1000, 1000}});
  OperandSpec transposed = whole;
  transposed.strides = {1, 1000};
  const auto plan = makeCopyPlan(transposed, whole);
  ASSERT_GT(plan->tasks().size(), 1U);
  std::int64_t end = 0;
  for (const kernels::Task &task : plan->tasks()) {
    EXPECT_TRUE(task.accesses[1].isWrite);
    EXPECT_EQ(task.accesses[1].begin, end);
    end = task.accesses[1].end;
  }
  EXPECT_EQ(end, 4000000);
}

} // namespace
