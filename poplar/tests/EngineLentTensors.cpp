// Values that the host lends: engines read them where they lie, as long as no
// program needs them itself, and never change them.
#include "EngineProgram.hpp"

#include "engine/EngineOptions.hpp"
#include "engine/FastExecutor.hpp"

#include <poplar/internal/LentTensors.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <utility>

namespace {

using namespace poplar;
using poplar::test::EngineProgram;
using Values = EngineProgram::Values;
using Floats = std::vector<float>;

constexpr std::size_t rows = 37, columns = 40; // fill no vector

// y = x * w^T, of an x that changes. The kernel reads w in another order, so
// that all the program itself reads is what was computed of w.
class Product : public EngineProgram {
public:
  Product()
      : x(addHostVariable("x", {64, columns}, 1)),
        y(addHostVariable("y", {64, rows}, 3)),
        w(addTemporary("w", {rows, columns})) {
    graph.createHostRead("w", w);
    graph.createHostWrite("w/write", w);
    graph.createHostWrite("w/row", w[2]);
    matmul(x, w.dimShuffle({1, 0}), y);
    elementwise("1-a", {x}, x);
  }

  static constexpr std::size_t derivedBytes = columns * 48 * sizeof(float);
  std::size_t stateBytes() const {
    return (x.numElements() + y.numElements()) * sizeof(float);
  }

  Tensor x, y, w;
};

std::shared_ptr<const Floats> weights(float first) {
  Floats values(rows * columns);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i % 7) - first;
  }
  return std::make_shared<const Floats>(std::move(values));
}

void lend(Engine &engine, const std::shared_ptr<const Floats> &values) {
  internal::lendTensor(engine, "w/write", {values, values->data()},
                       values->size() * sizeof(float));
}

void write(Engine &engine, const char *handle, const Floats &values) {
  engine.writeTensor(handle, values.data(), values.data() + values.size());
}

Floats readWeights(Engine &engine) {
  Floats values(rows * columns);
  engine.readTensor("w", values.data(), values.data() + values.size());
  return values;
}

// The product and the weights after runs with weights that `change` gives.
template <typename F>
std::vector<Floats> results(const char *executor, const F &change) {
  const Product p;
  const test::Environment name("ASPEN_EXECUTOR", executor);
  Engine engine = p.makeEngine();
  engine.load(p.device());
  std::vector<Floats> found;
  for (int step = 0; step < 4; ++step) {
    change(engine, step);
    engine.run(0);
    found.push_back(p.read(engine)[1]);
    found.push_back(readWeights(engine));
  }
  return found;
}

TEST(EngineLentTensors, GiveWhatWrittenOnesGive) {
  const auto first = weights(3), second = weights(2);
  const auto lending = [&](Engine &engine, int step) {
    if (step != 1) {
      lend(engine, step == 0 ? first : second);
    }
  };
  const auto writing = [&](Engine &engine, int step) {
    if (step != 1) {
      write(engine, "w/write", step == 0 ? *first : *second);
    }
  };
  const auto expected = results("reference", writing);
  EXPECT_NE(expected[0], expected[4]);
  EXPECT_EQ(expected[1], *first);
  EXPECT_EQ(expected[5], *second);
  for (const char *executor : {"fast", "reference"}) {
    EXPECT_EQ(results(executor, lending), expected);
    EXPECT_EQ(results(executor, writing), expected);
  }
}

TEST(EngineLentTensors, AreLeftAloneByLaterWrites) {
  const auto lent = weights(3);
  const Floats before = *lent;
  const auto change = [&](Engine &engine, int step) {
    if (step % 2 == 0) {
      lend(engine, lent);
    } else {
      write(engine, "w/row", Floats(columns, static_cast<float>(step)));
    }
  };
  const auto expected = results("reference", change);
  EXPECT_EQ(results("fast", change), expected);
  EXPECT_NE(expected[3], before);
  EXPECT_EQ(expected[5], before);
  EXPECT_EQ(*lent, before);
}

TEST(EngineLentTensors, AreHeldUntilTheyAreReplaced) {
  const Product p;
  Engine engine = p.makeEngine();
  engine.load(p.device());
  const auto first = weights(3), second = weights(2);
  lend(engine, first);
  engine.run(0);
  EXPECT_EQ(first.use_count(), 2);
  EXPECT_TRUE(internal::isLent(engine, "w", first->data()));
  EXPECT_FALSE(internal::isLent(engine, "w", second->data()));
  lend(engine, second);
  EXPECT_EQ(first.use_count(), 1);
  write(engine, "w/write", *first);
  EXPECT_EQ(second.use_count(), 1);
  EXPECT_FALSE(internal::isLent(engine, "w", second->data()));
  EXPECT_EQ(readWeights(engine), *first);
  lend(engine, second);
  EXPECT_EQ(readWeights(engine), *second);
  engine.load(p.device());
  EXPECT_EQ(second.use_count(), 1);
  EXPECT_EQ(readWeights(engine), Floats(rows * columns, 0));
  engine.run(0);
  EXPECT_EQ(p.read(engine)[1], Floats(64 * rows, 0));
}

TEST(EngineLentTensors, TakeNoMemoryOfTheEngine) {
  const Product p;
  const internal::GraphData &graph = internal::graphData(p.graph);
  engine::HostServices host(graph, engine::resolveOptions({}));
  engine::FastExecutor executor(graph, {internal::programNode(p.program)}, host,
                                1, true);
  const internal::TensorView &view = graph.hostWrites.at("w/write").view;
  const auto lent = weights(3);
  const auto *bytes = reinterpret_cast<const std::byte *>(lent->data());
  executor.load();
  executor.lend({lent, bytes}, view);
  executor.run(0);
  EXPECT_EQ(executor.variables().bytes(), p.stateBytes() + p.derivedBytes);
  executor.write(bytes, view);
  const std::size_t own = lent->size() * sizeof(float);
  EXPECT_EQ(executor.variables().bytes(),
            p.stateBytes() + p.derivedBytes + own);
  executor.lend({lent, bytes}, view);
  EXPECT_EQ(executor.variables().bytes(), p.stateBytes() + p.derivedBytes);
}

TEST(EngineLentTensors, AreCopiedForProgramsThatReadOrChangeThem) {
  for (const bool isChanged : {false, true}) {
    std::vector<Values> found;
    for (const char *executor : {"reference", "fast"}) {
      Product p;
      const program::Sequence infer = p.program;
      p.program = program::Sequence();
      if (isChanged) {
        p.elementwise("a+1", {p.w}, p.w);
      } else {
        p.program.add(program::PrintTensor("w", p.w));
      }
      std::ostringstream text;
      const test::Environment name("ASPEN_EXECUTOR", executor);
      Engine engine(p.graph, {infer, p.program}, {{"debug.verify", "true"}});
      engine.setPrintTensorStream(text);
      engine.load(p.device());
      const auto lent = weights(3);
      const Floats before = *lent;
      lend(engine, lent);
      EXPECT_EQ(lent.use_count(), 1);
      for (const unsigned program : {0U, 1U, 0U}) {
        engine.run(program);
        found.push_back({p.read(engine)[1], readWeights(engine)});
      }
      EXPECT_EQ(*lent, before);
      EXPECT_EQ(readWeights(engine) != before, isChanged);
    }
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(found[3 + i], found[i]) << i;
    }
    EXPECT_NE(found[0][0], found[2][0]);
  }
}

TEST(EngineLentTensors, HaveTheSizeOfTheTensor) {
  const Product p;
  Engine engine = p.makeEngine();
  engine.load(p.device());
  const auto values = weights(3);
  EXPECT_THROW(internal::lendTensor(engine, "w/write", values, 8),
               tensor_io_state_error);
}

// One after another, as they are written.
TEST(EngineLentTensors, HaveAPartForEachReplica) {
  constexpr unsigned replicas = 2;
  IPUModel model;
  model.numIPUs = replicas;
  const Device device = model.createDevice();
  std::vector<Floats> found;
  for (const bool isLent : {false, true}) {
    Graph graph(device, replication_factor(replicas));
    const auto add = [&](const char *name, std::vector<std::size_t> shape) {
      const Tensor tensor = graph.addVariable(FLOAT, shape, name);
      graph.setTileMapping(tensor, 0);
      graph.createHostRead(name, tensor);
      graph.createHostWrite(std::string(name) + "/write", tensor);
      return tensor;
    };
    const Tensor x = add("x", {64, columns});
    const Tensor w = add("w", {rows, columns});
    const Tensor y = add("y", {64, rows});
    program::Sequence program;
    internal::VertexGroup group;
    group.kind = &kernels::findKind("matmul");
    group.attributes = {{"bias", std::int64_t{0}},
                        {"activation", std::string()}};
    group.inputs = {internal::tensorView(x),
                    internal::tensorView(w.dimShuffle({1, 0}))};
    group.outputs = {internal::tensorView(y)};
    group.debugPath = "product";
    internal::executeGroup(graph, program, std::move(group));
    program.add(program::Copy(x[0], x[1]));
    Engine engine(graph, program, {{"debug.verify", "true"}});
    engine.load(device);
    auto values = std::make_shared<Floats>(*weights(3));
    const Floats other = *weights(1);
    values->insert(values->end(), other.begin(), other.end());
    write(engine, "x/write", Floats(replicas * 64 * columns, 1));
    if (isLent) {
      lend(engine, values);
      EXPECT_TRUE(internal::isLent(engine, "w", values->data()));
    } else {
      write(engine, "w/write", *values);
    }
    engine.run(0);
    for (const auto &[name, size] :
         {std::pair("y", 64 * rows), std::pair("w", rows * columns)}) {
      Floats &result = found.emplace_back(replicas * size);
      engine.readTensor(name, result.data(), result.data() + result.size());
    }
    EXPECT_EQ(found.back(), *values);
  }
  EXPECT_EQ(found[2], found[0]);
}

} // namespace
