// Executables that were cut, changed or written by somebody hostile: each is
// refused with poplar_error, whatever the bytes are.
#include "EngineProgram.hpp"
#include "ExecutableBytes.hpp"
#include "ExpectError.hpp"

#include <gtest/gtest.h>

namespace {

using namespace poplar;
using poplar::test::Change;
using poplar::test::changed;
using poplar::test::EngineProgram;
using poplar::test::fromBytes;
using poplar::test::Reading;
using poplar::test::repaired;
using poplar::test::toBytes;

// A little of everything that the API makes.
Executable makeExecutable() {
  EngineProgram program;
  const Tensor x = program.addHostVariable("x", {2, 3}, 1);
  const Tensor y = program.addTemporary("y", {3, 2});
  const DataStream in = program.graph.addHostToDeviceFIFO("in", FLOAT, 6);
  program.program.add(program::Copy(in, x));
  program.repeat(3, [&] { program.elementwise("a+1", {x}, x); });
  program.copy(x.transpose(), y);
  return compileGraph(program.graph, {program.program}, {});
}

bool isRefused(const std::string &bytes, bool checkPackageHash = true) {
  try {
    fromBytes(bytes, checkPackageHash);
  } catch (const poplar_error &) {
    return true;
  }
  return false;
}

TEST(ExecutableFilesDamage, EveryMissingEndIsFound) {
  const std::string bytes = toBytes(makeExecutable());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_TRUE(isRefused(bytes.substr(0, size))) << size << " bytes";
  }
}

TEST(ExecutableFilesDamage, EveryChangedByteIsFound) {
  const std::string bytes = toBytes(makeExecutable());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int flip : {0x01, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      ASSERT_TRUE(isRefused(damaged, false)) << "byte " << i;
    }
  }
}

// With the checksum repaired, some changes are as good as the original (another
// initial value, another name): an engine must be able to take those.
TEST(ExecutableFilesDamage, NoChangedByteDoesHarm) {
  const std::string bytes = toBytes(makeExecutable());
  for (std::size_t i = 8; i + 32 < bytes.size(); ++i) {
    for (int flip : {0x01, 0x04, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      try {
        const Executable read = fromBytes(repaired(damaged));
        // Thousands of replicas are allowed and take their time.
        if (read.impl()->values().graph.replicationFactor == 1) {
          const Engine engine(read);
        }
      } catch (const poplar_error &) {
      }
    }
  }
}

TEST(ExecutableFilesDamage, OtherVersionsAndPackagesAreNamed) {
  const std::string bytes = toBytes(makeExecutable());
  std::string damaged = bytes;
  damaged[8] = 99; // the version follows eight bytes of magic
  expectError<poplar_error>([&] { fromBytes(damaged); }, "format version 99",
                            "compile the graph again");
  const std::size_t hash = bytes.find(packageHash().cloneAsString());
  ASSERT_NE(hash, std::string::npos);
  damaged = bytes;
  damaged.replace(hash, 4, "abcd");
  damaged = repaired(damaged);
  expectError<poplar_error>([&] { fromBytes(damaged); }, "package abcd",
                            "compile the graph again");
  EXPECT_EQ(toBytes(fromBytes(damaged, false)), bytes);
}

TEST(ExecutableFilesDamage, NothingMayFollowTheLastSection) {
  std::string bytes = toBytes(makeExecutable());
  // The size of the body comes after the package hash.
  const std::size_t at =
      bytes.find(packageHash().cloneAsString()) + packageHash().size();
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data() + at, sizeof size);
  size += 3;
  std::memcpy(bytes.data() + at, &size, sizeof size);
  bytes.insert(bytes.size() - 32, "abc");
  expectError<poplar_error>([&] { fromBytes(repaired(bytes)); },
                            "follows its last section");
}

// Written after the change, so the checksum is right.
std::string tampered(const Change &change) {
  return toBytes(changed(makeExecutable(), change));
}

void expectRefused(const Change &change, const std::string &message) {
  expectError<poplar_error>([&] { fromBytes(tampered(change)); }, message);
}

internal::TensorView &firstOutput(Reading &reading) {
  return reading.graph.computeSets.at(0).groups.at(0).outputs.at(0);
}

TEST(ExecutableFilesDamage, TamperingWithNothingIsFine) {
  EXPECT_EQ(tampered([](Reading &) {}), toBytes(makeExecutable()));
}

TEST(ExecutableFilesDamage, ViewsStayInsideTheirVariables) {
  const auto changePiece = [](auto &&change) {
    return [=](Reading &reading) { change(firstOutput(reading).pieces.at(0)); };
  };
  expectRefused(
      changePiece([](auto &p) { p.variable = internal::VariableId(7); }),
      "no variable 7");
  expectRefused(changePiece([](auto &p) { p.offset = 1; }), "elements 1 to 6");
  expectRefused(changePiece([](auto &p) { p.offset = -1; }), "element -1");
  expectRefused(changePiece([](auto &p) {
                  p.offset = std::numeric_limits<std::int64_t>::max();
                }),
                "starts at");
  expectRefused(changePiece([](auto &p) { p.strides.back() = -1; }),
                "elements -");
  expectRefused(changePiece([](auto &p) {
                  p.strides.back() = std::numeric_limits<std::int64_t>::min();
                }),
                "stride");
  expectRefused(changePiece([](auto &p) { p.strides.pop_back(); }), "strides");
  expectRefused(changePiece([](auto &p) { p.extents.back() += 1; }),
                "more than its");
  expectRefused(changePiece([](auto &p) { p.extents.back() = -1; }),
                "dimension");
  expectRefused(
      [](Reading &r) {
        firstOutput(r).shape = {1LL << 38, 1LL << 38, 0};
      },
      "more than");
  expectRefused(
      [](Reading &r) { firstOutput(r).type = support::DataType::Half; },
      "elements of 4 bytes");
}

TEST(ExecutableFilesDamage, VariablesAreWhatTheySay) {
  const auto changeFirst = [](auto &&change) {
    return [=](Reading &reading) { change(reading.graph.variables.at(0)); };
  };
  expectRefused(changeFirst([](auto &v) { v.initialData.pop_back(); }),
                "initial data");
  expectRefused(changeFirst([](auto &v) {
                  v.initialData.clear();
                  v.isConstant = true;
                }),
                "initial data");
  expectRefused(
      changeFirst([](auto &v) { v.type = static_cast<support::DataType>(77); }),
      "enumeration");
  expectRefused(changeFirst([](auto &v) { v.shape = {-2, -3}; }), "dimension");
  expectRefused(changeFirst([](auto &v) {
                  v.mapping.set({0, 6, 1471, 2, 3});
                }),
                "tile 1472 of 1472");
  expectRefused(changeFirst([](auto &v) {
                  v.mapping.set({0, 7, 0, 1, 7});
                }),
                "tile mapping");
  expectRefused(changeFirst([](auto &v) { v.mapping = {}; }), "not mapped");
}

TEST(ExecutableFilesDamage, OperationsMakeSense) {
  const auto changeGroup = [](auto &&change) {
    return [=](Reading &reading) {
      change(reading.graph.computeSets.at(0).groups.at(0));
    };
  };
  static const kernels::Kind other{"nosuch", nullptr, nullptr, {}};
  expectRefused(changeGroup([](auto &g) { g.kind = &other; }),
                "kind of operation is named 'nosuch'");
  expectRefused(changeGroup([](auto &g) { g.attributes = {}; }),
                "compile the graph again");
  expectRefused(changeGroup([](auto &g) {
                  g.attributes.set("code", kernels::Attributes::Ints{1 << 30});
                }),
                "compile the graph again");
  expectRefused(changeGroup([](auto &g) { g.outputs.clear(); }), "outputs");
  expectRefused(changeGroup([](auto &g) {
                  internal::TileRun run;
                  run.firstTile = 1472;
                  run.tileCount = 1;
                  g.phases = {{"", {run}}};
                }),
                "tile 1472 of 1472");
}

TEST(ExecutableFilesDamage, TargetsExist) {
  const auto changeTarget = [](auto &&change) {
    return [=](Reading &reading) {
      internal::TargetData target = *reading.graph.target;
      change(target);
      reading.graph.target =
          std::make_shared<const internal::TargetData>(target);
    };
  };
  expectRefused(changeTarget([](auto &t) { t.tilesPerIPU = 0; }), "target");
  expectRefused(changeTarget([](auto &t) { t.numIPUs = 1U << 31; }), "target");
  expectRefused(changeTarget([](auto &t) { t.clockHz = 0; }), "target");
  expectRefused([](Reading &r) { r.graph.replicationFactor = 0; }, "replica");
  expectRefused([](Reading &r) { r.graph.replicationFactor = 6000; },
                "6000 replicas");
}

template <typename Op> internal::ProgramPtr makeNode(Op op) {
  return std::make_shared<internal::ProgramNode>(
      internal::ProgramNode{std::move(op), "hostile"});
}

TEST(ExecutableFilesDamage, ProgramsReferToWhatIsThere) {
  const auto addNode = [](auto op) {
    return [=](Reading &reading) { reading.programs.push_back(makeNode(op)); };
  };
  expectRefused(addNode(internal::ExecuteNode{internal::ComputeSetId(9)}),
                "compute set 9 of 1");
  const internal::TensorView noElements{support::DataType::Float, {0}, {}};
  expectRefused(
      addNode(internal::StreamInNode{internal::StreamId(1), noElements}),
      "stream 1 of 1");
  expectRefused(
      addNode(internal::StreamOutNode{noElements, internal::StreamId(0)}),
      "direction");
  expectRefused(
      addNode(internal::StreamInNode{internal::StreamId(0), noElements, 1}),
      "replica 1 of 1");
  expectRefused(addNode(internal::RemoteReadNode{internal::RemoteBufferId(),
                                                 noElements, noElements}),
                "remote buffer");
  expectRefused(addNode(internal::CycleCountNode{
                    makeNode(internal::SequenceNode{}), noElements}),
                "cycle count");
  expectRefused(addNode(internal::CallNode{internal::FunctionId(0)}),
                "function 0");
}

TEST(ExecutableFilesDamage, FunctionsDoNotCallThemselves) {
  expectRefused(
      [](Reading &reading) {
        reading.graph.functions = {
            makeNode(internal::CallNode{internal::FunctionId(0)})};
      },
      "function 0");
}

// Writing and reading share this check.
TEST(ExecutableFilesDamage, ProgramsDoNotNestForever) {
  const auto nested = [](std::size_t depth) {
    return [=](Reading &reading) {
      for (std::size_t i = 0; i < depth; ++i) {
        reading.programs[0] =
            makeNode(internal::SequenceNode{{reading.programs[0]}});
      }
    };
  };
  const Executable deep = fromBytes(tampered(nested(4000)));
  const Engine engine(deep); // the stack is large enough
  expectError<poplar_error>([&] { tampered(nested(5000)); }, "deep");
  const auto doubled = [](Reading &reading) {
    for (int i = 0; i < 40; ++i) {
      reading.programs[0] = makeNode(
          internal::SequenceNode{{reading.programs[0], reading.programs[0]}});
    }
  };
  expectError<poplar_error>([&] { tampered(doubled); }, "in all");
}

} // namespace
