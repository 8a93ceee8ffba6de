// Collectives of the hosts' memories over a backend that is made up: two
// instances, the other of which has what this one has.
#include <popdist/collectives.hpp>
#include <popdist/internal/Instances.hpp>

#include <support/Half.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace {

using namespace popdist;

struct Collectives : testing::Test {
  Collectives() {
    if (!isBackendInitialized()) {
      registerBackend(POPDIST_TEST_BACKEND);
      initializeBackend();
    }
  }
};

template <typename T> void expectSum(poplar::Type type) {
  std::array<T, 3> values = {T(1), T(2), T(5)};
  collectives::allReduceSum(values.data(), values.size(), type);
  EXPECT_EQ(values, (std::array<T, 3>{T(2), T(4), T(10)}));
}

TEST_F(Collectives, AddElementsOfAnyNumberType) {
  expectSum<float>(poplar::FLOAT);
  expectSum<std::int32_t>(poplar::INT);
  expectSum<std::uint32_t>(poplar::UNSIGNED_INT);
  expectSum<std::int64_t>(poplar::LONGLONG);
  expectSum<std::uint64_t>(poplar::UNSIGNED_LONGLONG);
  std::uint16_t half = support::floatToHalfBits(1.5F);
  collectives::allReduceSum(&half, 1, poplar::HALF);
  EXPECT_EQ(support::halfBitsToFloat(half), 3.0F);
  bool flag = true;
  EXPECT_THROW(collectives::allReduceSum(&flag, 1, poplar::BOOL),
               popdist_error);
}

TEST_F(Collectives, GatherInTheOrderOfInstances) {
  EXPECT_EQ(internal::participants(), 2);
  const std::array<float, 2> own = {1, 2};
  std::array<float, 4> all{};
  collectives::allGather(own.data(), all.data(), 2, poplar::FLOAT);
  EXPECT_EQ(all, (std::array<float, 4>{1, 2, 1, 2}));
  EXPECT_THROW(collectives::allGather(nullptr, all.data(), 2, poplar::FLOAT),
               popdist_error);
}

TEST_F(Collectives, AreAmongThoseThatACommunicatorNames) {
  registerCommunicator({1}, "other");
  float value = 1;
  EXPECT_THROW(collectives::allReduceSum(&value, 1, poplar::FLOAT, "other"),
               popdist_error);
  EXPECT_THROW(collectives::allReduceSum(&value, 1, poplar::FLOAT, "nobody"),
               popdist_error);
  EXPECT_THROW(collectives::broadcast(&value, 1, poplar::FLOAT, 2),
               popdist_error);
  EXPECT_THROW(registerCommunicator({2}, "missing"), popdist_error);
}

TEST_F(Collectives, HaveOneBackend) {
  EXPECT_THROW(registerDefaultBackend(), popdist_error);
  EXPECT_THROW(initializeBackend(), popdist_error);
}

} // namespace
