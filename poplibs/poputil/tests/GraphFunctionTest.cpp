// Functions of tensors, inlined or not, and the records of operations.
#include <poputil/GraphFunction.hpp>

#include "../../testing/TestProgram.hpp"

#include <poputil/DebugInfo.hpp>
#include <poputil/Util.hpp>
#include <poputil/exceptions.hpp>

#include <gtest/gtest.h>

namespace {

using namespace poputil::graphfn;
using poplar::Tensor;
using poplar::program::Copy;
using poplar::program::Sequence;
using Tensors = std::vector<Tensor>;

class GraphFunction : public testing::TestWithParam<bool> {
protected:
  TestProgram p;
};
INSTANTIATE_TEST_SUITE_P(Inlined, GraphFunction, testing::Bool());

TEST_P(GraphFunction, CopiesArgumentsInAndOut) {
  const auto a = p.input({2}, {1, 2});
  const auto b = p.input({2}, {3, 4});
  const auto x = p.input({2}, {0, 0});
  const auto y = p.input({2}, {0, 0});
  VoidFunction reverse(
      p.graph, {input(a, "from"), output(x, "to")},
      [](Tensors &args, Sequence &prog) {
        prog.add(Copy(args[0].reverse(0), args[1]));
      },
      GetParam());
  Tensors first{a, x}, second{b, y};
  reverse(first, p.prog);
  reverse(second, p.prog);
  EXPECT_EQ(p.run<float>(concat(x, y)), (std::vector<float>{2, 1, 4, 3}));
}

TEST_P(GraphFunction, UpdatesAndCreatesArguments) {
  const auto a = p.input({2}, {1, 2});
  VoidFunction swap(
      p.graph, {inout(a), created("old")},
      [this](Tensors &args, Sequence &prog) {
        args[1] = poputil::duplicate(p.graph, args[0], prog);
        prog.add(Copy(args[1].reverse(0), args[0]));
      },
      GetParam());
  Tensors args{a, Tensor()};
  swap(args, p.prog);
  EXPECT_EQ(p.run<float>(concat(a, args[1])), (std::vector<float>{2, 1, 1, 2}));
}

TEST_P(GraphFunction, ReturnsATensor) {
  const auto a = p.input({2}, {1, 2});
  TensorFunction copy(
      p.graph, {input(a)},
      [this](Tensors &args, Sequence &prog, const poplar::DebugNameAndId &) {
        return poputil::duplicate(p.graph, args[0], prog).reverse(0);
      },
      GetParam());
  Tensors args{a};
  const auto first = copy(args, p.prog);
  const auto second = copy(args, p.prog);
  EXPECT_EQ(args.size(), 1u);
  EXPECT_FALSE(first.intersectsWith(second));
  EXPECT_EQ(p.run<float>(concat(first, second)),
            (std::vector<float>{2, 1, 2, 1}));
}

TEST(ProgramFunction, ChecksTheNumberOfArguments) {
  TestProgram p;
  const auto a = p.input({1}, {1});
  ProgramFunction none(p.graph, {input(a)},
                       [](Tensors &) { return poplar::program::Program(); });
  Tensors args;
  EXPECT_THROW(none(args), poputil::poplibs_error);
}

TEST(DebugInfo, NamesArguments) {
  const std::vector<std::size_t> dims{1, 2};
  const bool isFast = true;
  const auto args = DI_ARGS(dims, isFast);
  ASSERT_EQ(args.size(), 2u);
  EXPECT_EQ(args[0].first, "dims");
  EXPECT_EQ(args[0].second[1].asInt(), 2);
  EXPECT_EQ(args[1].first, "isFast");
  EXPECT_TRUE(args[1].second.asBool());
  TestProgram p;
  poputil::PoplibsOpDebugInfo info({"op"}, args);
  info.addOutput(p.input({1}, {1}));
  EXPECT_FALSE(info.setValue("outputs", 0)); // was there
}

} // namespace
