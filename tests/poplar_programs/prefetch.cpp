// Callbacks of a stream, with and without prefetch; also its own codelet file.
// Exits with 1 if the device got other numbers than the host sent.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

using namespace poplar;

// Both fields are connected to the same elements.
class Increment : public Vertex {
public:
  Input<Vector<float>> x;
  Output<Vector<float>> y;

  bool compute() {
    for (unsigned i = 0; i < x->size(); ++i) {
      y[i] = x[i] + 1;
    }
    return true;
  }
};

#else
#include <poplar/DeviceManager.hpp>
#include <poplar/Engine.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/exceptions.hpp>

using namespace poplar;
using namespace poplar::program;

const unsigned size = 3;
const unsigned copies = 5;

class Source : public StreamCallback {
public:
  using Fill = std::function<void(float *, unsigned)>;
  Source(Fill fill, bool canPrefetch) : fill(fill), canPrefetch(canPrefetch) {}

  Result prefetch(void *__restrict p) noexcept override {
    std::printf("prefetch\n");
    if (!canPrefetch) {
      return StreamCallback::Result::NotAvailable;
    }
    fill(static_cast<float *>(p), count);
    return StreamCallback::Result::Success;
  }
  void fetch(void *__restrict p) noexcept override {
    std::printf("fetch\n");
    fill(static_cast<float *>(p), count);
  }
  void complete() noexcept override {
    std::printf("complete\n");
    ++count;
  }

private:
  Fill fill;
  bool canPrefetch;
  unsigned count = 0;
};

class Sink : public StreamCallback {
public:
  explicit Sink(std::vector<float> &received) : received(received) {}
  Result prefetch(void *) override { return Result::NotAvailable; }
  void fetch(void *p) override {
    const float *values = static_cast<const float *>(p);
    received.insert(received.end(), values, values + size);
  }
  void complete() override {}

private:
  std::vector<float> &received;
};

static void fillBlock(float scale, float *p, unsigned block) {
  for (unsigned i = 0; i < size; ++i) {
    p[i] = scale * (block * size + i);
  }
}

static Device attach() {
  for (auto &d :
       DeviceManager::createDeviceManager().getDevices(TargetType::IPU, 1)) {
    if (d.attach()) {
      return std::move(d);
    }
  }
  throw poplar_error("no device");
}

static std::unique_ptr<Source> source(bool canPrefetch) {
  using namespace std::placeholders;
  return std::unique_ptr<Source>(
      new Source(std::bind(fillBlock, 2.0f, _1, _2), canPrefetch));
}

int main() {
  Device device = attach();
  Graph graph(device);
  graph.addCodelets(__FILE__);
  Tensor t = graph.addVariable(FLOAT, {size}, "t");
  graph.setTileMapping(t, 0);
  ComputeSet cs = graph.addComputeSet();
  auto v = graph.addVertex(cs, "Increment", {{"x", t}, {"y", t}});
  graph.setTileMapping(v, 0);
  auto in = graph.addHostToDeviceFIFO("in", FLOAT, size);
  auto out = graph.addDeviceToHostFIFO("out", FLOAT, size);
  auto prog =
      Repeat(copies, Sequence({Copy(in, t), Execute(cs), Copy(t, out)}));
  auto engine = Engine{graph, prog,
                       OptionFlags{{"exchange.streamBufferOverlap", "none"}}};
  engine.load(device);

  std::vector<float> received;
  engine.connectStreamToCallback("out",
                                 std::unique_ptr<Sink>(new Sink(received)));
  engine.connectStreamToCallback("in", source(true));
  std::printf("first run\n");
  engine.run(0);
  std::printf("second run\n");
  engine.run(0);
  engine.connectStreamToCallback("in", source(false));
  std::printf("without prefetch\n");
  engine.run(0);

  for (unsigned i = 0; i < 3 * copies * size; ++i) {
    const float sent = 2.0f * (i % (2 * copies * size));
    if (received.at(i) != sent + 1) {
      return 1;
    }
  }
  return 0;
}
#endif
