// Streams of replicated graphs: whose transfers are where in a buffer, and who
// asks which callback.
#include "ExpectError.hpp"

#include "engine/HostStreams.hpp"

#include <poplar/exceptions.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace {

using namespace poplar;
using engine::HostStreams;
using internal::StreamId;

constexpr StreamId in{std::size_t{0}};
constexpr StreamId shared{std::size_t{1}};
constexpr StreamId out{std::size_t{2}};

// Two replicas; transfers of two floats each.
internal::GraphData makeGraph() {
  internal::GraphData graph;
  graph.replicationFactor = 2;
  const auto add = [&](const char *handle, bool isIn, bool isBroadcast) {
    internal::StreamData stream;
    stream.handle = handle;
    stream.elements = 2;
    stream.isHostToDevice = isIn;
    stream.isBroadcast = isBroadcast;
    graph.streams.push_back(stream);
  };
  add("in", true, false);
  add("shared", true, true);
  add("out", false, false);
  return graph;
}

using Values = std::vector<float>;

class HostStreamsReplicas : public testing::Test {
protected:
  Values receive(StreamId stream, unsigned replica) {
    Values values(2);
    streams.receive(stream, replica,
                    reinterpret_cast<std::byte *>(values.data()));
    return values;
  }
  void send(unsigned replica, Values values) {
    streams.send(out, replica, reinterpret_cast<std::byte *>(values.data()));
  }

  internal::GraphData graph = makeGraph();
  HostStreams streams{graph, true};
};

// Counts up in its buffers, ahead of need.
struct Counter final : StreamCallback {
  explicit Counter(float first) : next(first) {}
  Result prefetch(void *buffer) override {
    fetch(buffer);
    return Result::Success;
  }
  void fetch(void *buffer) override {
    static_cast<float *>(buffer)[0] = next;
    static_cast<float *>(buffer)[1] = -next;
    ++next;
  }
  void complete() override {}

  float next;
};

TEST_F(HostStreamsReplicas, TakeTurnsInACircularBuffer) {
  Values data = {0, 1, 2, 3, 4, 5, 6, 7}; // two steps
  streams.connectBuffer("in", data.data(), data.data() + 8);
  EXPECT_EQ(receive(in, 0), (Values{0, 1}));
  EXPECT_EQ(receive(in, 1), (Values{2, 3}));
  EXPECT_EQ(receive(in, 0), (Values{4, 5}));
  EXPECT_EQ(receive(in, 1), (Values{6, 7}));
  EXPECT_EQ(receive(in, 0), (Values{0, 1}));
  EXPECT_EQ(receive(in, 1), (Values{2, 3}));

  Values results(4);
  streams.connectFixed("out", results.data());
  send(0, {1, 2});
  send(1, {3, 4});
  send(0, {5, 6});
  EXPECT_EQ(results, (Values{5, 6, 3, 4}));
}

TEST_F(HostStreamsReplicas, ShareOneTransferOfABroadcastStream) {
  Values data = {0, 1, 2, 3};
  streams.connectBuffer("shared", data.data(), data.data() + 4);
  EXPECT_EQ(receive(shared, 0), (Values{0, 1}));
  EXPECT_EQ(receive(shared, 1), (Values{0, 1}));
  EXPECT_EQ(receive(shared, 0), (Values{2, 3}));
  EXPECT_EQ(receive(shared, 1), (Values{2, 3}));

  streams.connectCallback("shared", std::make_unique<Counter>(7.F));
  EXPECT_EQ(receive(shared, 0), (Values{7, -7}));
  EXPECT_EQ(receive(shared, 1), (Values{7, -7}));
  EXPECT_EQ(receive(shared, 0), (Values{8, -8}));
  EXPECT_EQ(receive(shared, 1), (Values{8, -8}));
}

TEST_F(HostStreamsReplicas, AskACallbackOfTheirOwn) {
  streams.connectCallback("in", 0, std::make_unique<Counter>(0.F));
  expectError<stream_connection_error>([&] { streams.requireConnected({in}); },
                                       "'in' of replica 1");
  streams.connectCallback("in", 1, std::make_unique<Counter>(100.F));
  EXPECT_NO_THROW(streams.requireConnected({in}));
  EXPECT_EQ(receive(in, 0)[0], 0);
  EXPECT_EQ(receive(in, 1)[0], 100);
  EXPECT_EQ(receive(in, 0)[0], 1);
  EXPECT_EQ(receive(in, 1)[0], 101);
}

TEST_F(HostStreamsReplicas, AskOneCallbackInTurn) {
  streams.connectCallback("in", std::make_unique<Counter>(0.F));
  EXPECT_EQ(receive(in, 0)[0], 0);
  EXPECT_EQ(receive(in, 1)[0], 1);
  EXPECT_EQ(receive(in, 0)[0], 2);
  EXPECT_EQ(receive(in, 1)[0], 3);
}

TEST_F(HostStreamsReplicas, NeedRoomForATransferEach) {
  Values data(6);
  expectError<stream_connection_error>(
      [&] { streams.connectBuffer("in", data.data(), data.data() + 6); },
      "24 bytes", "2 replicas");
  EXPECT_NO_THROW(
      streams.connectBuffer("shared", data.data(), data.data() + 6));
  expectError<stream_connection_error>(
      [&] { streams.connectCallback("in", 2, [](void *) {}); }, "replica 2");
}

TEST_F(HostStreamsReplicas, NeedOnlyOneEndOfABroadcastStream) {
  streams.connectCallback("shared", 0, [](void *) {});
  EXPECT_NO_THROW(streams.requireConnected({shared}));
}

} // namespace
