// Lesson 5: the host makes a stream's data when the program asks, or before.
//
// This file is two programs. The graph compiles it again for the device; then
// __POPC__ is defined and only the first half is there.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

using namespace poplar;

class AddToTotal : public Vertex {
public:
  Input<Vector<int>> values;
  InOut<int> total;

  bool compute() {
    for (int value : values) {
      *total += value;
    }
    return true;
  }
};

#else
#include <poplar/DeviceManager.hpp>
#include <poplar/Engine.hpp>

#include <cstdlib>
#include <iostream>
#include <memory>

using namespace poplar;
using namespace poplar::program;

const int blockSize = 2;
const int blocksOfRun = 3;

// Feeds the numbers 0, 1, 2, ... in blocks, and prints each call.
class Numbers : public StreamCallback {
public:
  explicit Numbers(int numBlocks) : numBlocks_(numBlocks) {}

  // Called ahead of time, while the device is busy with the block before. It
  // may decline; then the block is fetched when the device needs it.
  Result prefetch(void *block) override {
    if (next_ == numBlocks_) {
      std::cout << "prefetch: nothing left\n";
      return Result::NotAvailable;
    }
    std::cout << "prefetch block " << next_ << '\n';
    fill(block);
    return Result::Success;
  }

  // Called when the device is waiting and nothing was prefetched.
  void fetch(void *block) override {
    std::cout << "fetch block " << next_ << '\n';
    fill(block);
  }

  // The device has the block. Only now is it gone: what was prefetched may be
  // thrown away unused, so prefetch must not count it as sent.
  void complete() override {
    std::cout << "complete\n";
    ++next_;
  }

private:
  void fill(void *block) const {
    int *numbers = static_cast<int *>(block);
    for (int i = 0; i < blockSize; ++i) {
      numbers[i] = next_ * blockSize + i;
    }
  }

  int numBlocks_;
  int next_ = 0;
};

int main() {
  Device device;
  for (Device &candidate :
       DeviceManager::createDeviceManager().getDevices(TargetType::IPU, 1)) {
    if (candidate.attach()) {
      device = std::move(candidate);
      break;
    }
  }
  if (!device.isAttached()) {
    std::cerr << "No IPU is free\n";
    return 1;
  }

  Graph graph(device);
  graph.addCodelets(__FILE__);
  Tensor block = graph.addVariable(INT, {blockSize}, "block");
  Tensor total = graph.addVariable(INT, {}, "total");
  graph.setInitialValue(total, 0);
  graph.createHostRead("total", total);
  ComputeSet addUp = graph.addComputeSet("addUp");
  VertexRef vertex = graph.addVertex(addUp, "AddToTotal",
                                     {{"values", block}, {"total", total}});
  graph.setTileMapping(block, 0);
  graph.setTileMapping(total, 0);
  graph.setTileMapping(vertex, 0);

  DataStream numbers = graph.addHostToDeviceFIFO("numbers", INT, blockSize);
  Repeat sumBlocks(blocksOfRun, Sequence{Copy(numbers, block), Execute(addUp)});

  // Streams may share memory on the host unless told not to. A block that waits
  // there to be used needs memory of its own: without this, no prefetch.
  Engine engine(graph, sumBlocks, {{"exchange.streamBufferOverlap", "none"}});
  engine.load(device);
  engine.connectStreamToCallback(
      "numbers", std::unique_ptr<Numbers>(new Numbers(2 * blocksOfRun)));

  // The first run has to wait for its first block. It leaves the block after
  // its last one ready for the second run, which therefore never waits.
  for (int run = 1; run <= 2; ++run) {
    std::cout << "run " << run << '\n';
    engine.run();
    int sum = 0;
    engine.readTensor("total", &sum, &sum + 1);
    std::cout << "total " << sum << '\n';
  }
}
#endif
