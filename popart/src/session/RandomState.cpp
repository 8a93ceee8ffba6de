// Where the model's random numbers start, and where the tiles' have got to.
#include <session/Implementation.hpp>

#include <lowering/RngState.hpp>
#include <popart/tensornames.hpp>
#include <support/Logging.hpp>

#include <poplar/Target.hpp>

#include <cstring>

namespace popart {
namespace {

// Of all replicas: the seeds of a worker are four words.
std::size_t stateWords(const Session::Implementation &self) {
  const poplar::Target &target = self.device->getTarget();
  constexpr std::size_t wordsOfWorker = 4;
  return std::size_t{target.getNumTiles()} * target.getNumWorkerContexts() *
         wordsOfWorker;
}

poplar::Engine &requireState(const Session::Implementation &self,
                             const char *function) {
  poplar::Engine &engine = self.requireEngine(function);
  support::requireUser<error>(
      self.ir->sessionOptions.enableLoadAndOffloadRNGState,
      "[{}] SessionOption 'enableLoadAndOffloadRNGState' must be set to true",
      function);
  support::requireUser<error>(
      self.isLoaded, "[{}] the engine is not loaded on a device", function);
  return engine;
}

} // namespace

bool Session::Implementation::writeSeeds() {
  bool hasSeeds = false;
  for (const TensorId &id : ir->getMainGraph().getTensorIds()) {
    Tensor &tensor = ir->getMainGraph().getTensor(id);
    if (tensor.type == TensorType::Variable && isRandomSeed(id)) {
      char *bytes = tensor.data.change();
      std::memcpy(bytes, &randomSeed, sizeof(randomSeed));
      std::memcpy(bytes + sizeof(randomSeed), &randomStep, sizeof(randomStep));
      write(tensor);
      hasSeeds = true;
    }
  }
  return hasSeeds;
}

void Session::setRandomSeed(std::uint64_t seed) {
  Implementation &self = *implementation_;
  self.requireEngine("setRandomSeed");
  self.randomSeed = seed;
  self.randomStep = 0;
  if (self.isLoaded && !self.writeSeeds()) {
    constexpr support::Logger logger(support::LogChannel::Popart, "session");
    logger.warn("setRandomSeed changes nothing: the model has no random "
                "numbers");
  }
}

std::uint64_t Session::getRandomSeed() const {
  return implementation_->randomSeed;
}

std::uint32_t Session::getRandomStep() {
  Implementation &self = *implementation_;
  self.requireEngine("getRandomStep");
  Graph &graph = self.ir->getMainGraph();
  if (!self.isLoaded || !graph.hasTensor(reservedRandomSeedId())) {
    return self.randomStep;
  }
  Tensor &seed = graph.getTensor(reservedRandomSeedId());
  self.read(seed);
  std::uint32_t step = 0;
  std::memcpy(&step, seed.data.data() + sizeof(self.randomSeed), sizeof(step));
  return step;
}

void Session::setRandomStep(std::uint32_t step) {
  Implementation &self = *implementation_;
  self.requireEngine("setRandomStep");
  self.randomStep = step;
  if (self.isLoaded) {
    self.writeSeeds();
  }
}

std::vector<std::uint32_t> Session::getRNGState() {
  Implementation &self = *implementation_;
  poplar::Engine &engine = requireState(self, "getRNGState");
  engine.run(rngStateToHostProgram);
  std::vector<std::uint32_t> state(stateWords(self));
  engine.readTensor(rngStateHandle, state);
  return state;
}

void Session::setRNGState(const std::vector<std::uint32_t> &state) {
  Implementation &self = *implementation_;
  poplar::Engine &engine = requireState(self, "setRNGState");
  support::requireUser<error>(
      state.size() == stateWords(self),
      "[setRNGState] the state has {} words; that of this device has {}",
      state.size(), stateWords(self));
  engine.writeTensor(rngStateHandle, state);
  engine.run(rngStateFromHostProgram);
}

} // namespace popart
