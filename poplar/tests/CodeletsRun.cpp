// Codelets compute what their C++ says, on objects that nobody constructed.
#include "CodeletSource.hpp"
#include "ExpectError.hpp"

#include <poplar/exceptions.hpp>

namespace {

using poplar::codelets::PrintScope;
using poplar::internal::HostSpan;

class CodeletsRun : public CodeletTest {};

TEST_F(CodeletsRun, SumOfAVector) {
  const auto file = compile(R"(
#include <poplar/Vertex.hpp>
class SumVertex : public poplar::Vertex {
public:
  poplar::Input<poplar::Vector<float>> in;
  poplar::Output<float> out;
  bool compute() {
    *out = 0;
    for (const auto &v : in) {
      *out += v;
    }
    return true;
  }
};)");
  VertexObjects objects(typeOf(file, "SumVertex"), 2);
  std::vector<float> first = {1, 2, 3.5}, second = {-4};
  float sums[2] = {9, 9};
  objects.setVector("in", first, 0);
  objects.setVector("in", second, 1);
  objects.set("out", &sums[0], 0);
  objects.set("out", &sums[1], 1);
  EXPECT_TRUE(objects.run());
  EXPECT_EQ(sums[0], 6.5f);
  EXPECT_EQ(sums[1], -4.0f);
}

TEST_F(CodeletsRun, AMultiVertexRunsOnAllWorkers) {
  const auto file = compile(R"(
#include <poplar/Vertex.hpp>
struct Workers : poplar::MultiVertex {
  poplar::Output<poplar::Vector<unsigned>> out;
  void compute(unsigned worker) {
    for (unsigned i = worker; i < out.size(); i += numWorkers())
      out[i] = 10 * worker + i;
  }
};)");
  VertexObjects objects(typeOf(file, "Workers"));
  std::vector<unsigned> values(8);
  objects.setVector("out", values);
  EXPECT_TRUE(objects.run());
  EXPECT_EQ(values, (std::vector<unsigned>{0, 11, 22, 33, 44, 55, 6, 17}));
}

TEST_F(CodeletsRun, OneFalseIsTheResultOfAll) {
  const auto file = compile(R"(
#include <poplar/Vertex.hpp>
class Check : public poplar::Vertex {
  poplar::InOut<int> value;
public:
  Check();
  bool compute() { value += 1; return value < 3; }
};)");
  VertexObjects objects(typeOf(file, "Check"), 3);
  int values[] = {0, 2, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    objects.set("value", &values[i], i);
  }
  EXPECT_FALSE(objects.run());
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[1], 3);
  EXPECT_EQ(values[2], 2); // the others run all the same
}

TEST_F(CodeletsRun, PrintfWritesToTheScopesStream) {
  const auto file = compile(R"(
#include <poplar/Vertex.hpp>
#include <print.h>
struct Printing : poplar::Vertex {
  int value;
  bool compute() { printf("value %d\n", value); printf("done\n"); return true; }
};)");
  EXPECT_TRUE(typeOf(file, "Printing").isPrinting);
  VertexObjects objects(typeOf(file, "Printing"));
  objects.set("value", 42);
  std::ostringstream stream;
  {
    PrintScope scope(stream);
    testing::internal::CaptureStdout();
    EXPECT_TRUE(objects.run());
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  }
  EXPECT_EQ(stream.str(), "value 42\ndone\n");
}

TEST_F(CodeletsRun, AFailedAssertIsARuntimeError) {
  const auto file = compile(R"(#include <poplar/Vertex.hpp>
#include <cassert>
struct Guard { ~Guard() noexcept {} };
struct Asserting : poplar::Vertex {
  int value;
  bool compute() noexcept {
    Guard guard;
    assert(value == 1 && "one");
    return true;
  }
};)");
  EXPECT_FALSE(typeOf(file, "Asserting").isPrinting);
  VertexObjects objects(typeOf(file, "Asserting"));
  objects.set("value", 1);
  EXPECT_TRUE(objects.run());
  objects.set("value", 2);
  expectError<poplar::application_runtime_error>(
      [&] { objects.run(); }, "<stdin>:8", "value == 1 && \"one\"");
}

} // namespace
