// The metadata of QUARTER tensors: who has it, who keeps it, and what is
// refused. What casts make of it is tested with popops.
#include "ExpectError.hpp"

#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/MetadataCreation.hpp>
#include <poplar/Program.hpp>

#include <gtest/gtest.h>

using namespace poplar;

namespace {

using Format = QuarterMetadata::Format;

class TensorMetadata : public testing::Test {
protected:
  Graph graph{Target::createIPUTarget(1, "ipu21")};
  Tensor f143 = createConstantMetadataTensor(graph, Format::F143, 2);
  Tensor f152 = createVariableMetadataTensor(graph, Format::F152, -1, "m");
  Tensor q = graph.addVariable(QUARTER, f143, {2, 3}, "q");
};

TEST_F(TensorMetadata, ViewsAndClonesKeepIt) {
  EXPECT_EQ(q.getMetadata(), f143);
  EXPECT_EQ(q[1].transpose().getMetadata(), f143);
  EXPECT_EQ(concat(q, q, 1).getMetadata(), f143);
  EXPECT_EQ(graph.clone(q).getMetadata(), f143);
  EXPECT_FALSE(q.reinterpret(UNSIGNED_CHAR).hasMetadata());
  EXPECT_FALSE(graph.clone(HALF, q).hasMetadata());
}

TEST_F(TensorMetadata, BelongsToTheTensorThatItWasGivenTo) {
  Tensor plain = graph.addVariable(QUARTER, {2, 3}, "plain");
  EXPECT_FALSE(plain.hasMetadata());
  expectError<tensor_metadata_error>([&] { plain.getMetadata(); }, "quarter");
  Tensor other = plain;
  other.associateMetadata(f152);
  EXPECT_EQ(other.getMetadata(), f152);
  EXPECT_FALSE(plain.hasMetadata());
}

TEST_F(TensorMetadata, RefusesWhatHasNoMeaning) {
  Tensor other = graph.addVariable(QUARTER, f152, {2, 3}, "other");
  expectError<tensor_metadata_error>([&] { concat(q, other); }, "tensor 1");
  Tensor number = graph.addVariable(FLOAT, {}, "number");
  expectError<tensor_metadata_error>([&] { number.associateMetadata(f143); },
                                     "float");
  expectError<tensor_metadata_error>([&] { q.associateMetadata(number); },
                                     "float");
  expectError<tensor_metadata_error>(
      [&] { createConstantMetadataTensor(graph, Format::F143, -33); }, "-33");
}

TEST(TensorMetadataOnDevice, QuartersAreBytesInStreamsAndCopies) {
  const Device device = IPUModel("ipu21").createDevice();
  Graph graph(device);
  const Tensor metadata = createConstantMetadataTensor(graph, Format::F143, 0);
  const Tensor from =
      graph.addVariable(QUARTER, metadata, {5}, VariableMappingMethod::LINEAR);
  const Tensor to = graph.clone(from);
  const DataStream in = graph.addHostToDeviceFIFO("in", QUARTER, 5);
  const DataStream out = graph.addDeviceToHostFIFO("out", QUARTER, 5);
  Engine engine(graph, program::Sequence({program::Copy(in, from),
                                          program::Copy(from, to),
                                          program::Copy(to, out)}));
  engine.load(device);
  std::vector<unsigned char> bytes{0, 0x40, 0x80, 0xff, 7}, found(5);
  engine.connectStream("in", bytes.data(), bytes.data() + bytes.size());
  engine.connectStream("out", found.data(), found.data() + found.size());
  engine.run();
  EXPECT_EQ(found, bytes);
}

} // namespace
