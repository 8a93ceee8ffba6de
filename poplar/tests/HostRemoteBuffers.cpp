// The rows of remote buffers on the host.
#include "ExpectError.hpp"

#include "engine/RemoteBuffers.hpp"

#include <poplar/exceptions.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace poplar;
using engine::RemoteBuffers;

using Values = std::vector<float>;

class HostRemoteBuffers : public testing::Test {
protected:
  HostRemoteBuffers() {
    graph.replicationFactor = 2;
    graph.remoteBuffers.push_back({"weights", support::DataType::Float, 2, 3});
  }

  Values read(RemoteBuffers &buffers, unsigned replica, std::uint64_t row) {
    Values values(2, -1);
    buffers.read(buffers.find("weights"), replica, row,
                 reinterpret_cast<std::byte *>(values.data()));
    return values;
  }
  void write(RemoteBuffers &buffers, unsigned replica, std::uint64_t row,
             const Values &values) {
    buffers.write(buffers.find("weights"), replica, row,
                  reinterpret_cast<const std::byte *>(values.data()));
  }

  internal::GraphData graph;
};

TEST_F(HostRemoteBuffers, KeepRowsOfReplicasApart) {
  RemoteBuffers buffers(graph);
  EXPECT_EQ(read(buffers, 1, 2), (Values{0, 0}));
  write(buffers, 0, 2, {1, 2});
  write(buffers, 1, 0, {3, 4});
  EXPECT_EQ(read(buffers, 0, 0), (Values{0, 0}));
  EXPECT_EQ(read(buffers, 0, 1), (Values{0, 0}));
  EXPECT_EQ(read(buffers, 0, 2), (Values{1, 2}));
  EXPECT_EQ(read(buffers, 1, 0), (Values{3, 4}));
  EXPECT_EQ(read(buffers, 1, 2), (Values{0, 0}));
}

TEST_F(HostRemoteBuffers, NameTheRowThatIsNotThere) {
  RemoteBuffers buffers(graph);
  expectError<application_runtime_error>([&] { read(buffers, 0, 3); },
                                         "'weights'", "row 3", "3 rows");
  expectError<application_runtime_error>(
      [&] {
        write(buffers, 2, 0, {0, 0});
      },
      "'weights'", "replica 2");
  expectError<tensor_io_state_error>([&] { buffers.find("bias"); }, "'bias'");
}

TEST_F(HostRemoteBuffers, TakeNoMemoryForRowsThatAreNotUsed) {
  graph.remoteBuffers[0].elements = std::int64_t{1} << 28; // 1 GiB a row
  graph.remoteBuffers[0].repeats = 2;
  EXPECT_NO_THROW(RemoteBuffers buffers(graph));
}

} // namespace
