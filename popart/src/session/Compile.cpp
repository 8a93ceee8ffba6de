// From a session's graphs to a compiled program.
#include <session/Implementation.hpp>

#include <lowering/RngState.hpp>
#include <lowering/StepProgram.hpp>
#include <support/Timed.hpp>

#include <poplar/internal/Access.hpp>
#include <poplar/internal/LinkedPrograms.hpp>
#include <poplar/internal/OutOfMemory.hpp>

#include <utility>

namespace popart {
namespace {

// PopART's own first, so that the user's have the last word.
poplar::OptionFlags engineOptions(const SessionOptions &session) {
  poplar::OptionFlags options = {
      {"debug.retainDebugInformation", "false"},
      {"target.deterministicWorkers",
       session.enableStochasticRounding ? "true" : "false"}};
  if (session.enablePrefetchDatastreams) {
    options.set("exchange.streamBufferOverlap", "hostRearrangeOnly");
    options.set("exchange.enablePrefetch", "true");
  } else {
    options.set("exchange.enablePrefetch", "false");
  }
  if (session.enableFloatingPointChecks) {
    options.set("debug.floatPointOpException", "true");
  }
  for (const auto &[name, value] : session.engineOptions) {
    options.set(name, value);
  }
  return options;
}

void addCodelets(const SessionOptions &session, poplar::Graph &graph) {
  for (const std::string &file : session.customCodelets) {
    graph.addCodelets(file, poplar::CodeletFileType::Auto,
                      session.customCodeletCompileFlags);
  }
}

// The device has the IPUs of this process's replicas only.
poplar::Target targetOfAll(const Session::Implementation &self) {
  poplar::internal::TargetData target =
      poplar::internal::targetData(self.device->getTarget());
  target.numIPUs *= static_cast<unsigned>(self.allReplicas() / self.replicas());
  return poplar::internal::makeTarget(std::move(target));
}

// Steps of the compiler on the scale that the user counts by.
Session::Progress onScale(const SessionOptions &session) {
  if (!session.compilationProgressLogger) {
    return {};
  }
  return [logger = session.compilationProgressLogger,
          total = session.compilationProgressTotal](int done, int steps) {
    logger(total * done / steps, total);
  };
}

} // namespace

poplar::Executable compileSession(const Session::Implementation &self,
                                  const Session::Progress &progress) {
  const Ir &ir = *self.ir;
  poplar::Target target = targetOfAll(self);
  auto withReplicas = [](std::int64_t count) {
    return poplar::replication_factor(static_cast<unsigned>(count));
  };
  poplar::Graph valueGraph(
      target, withReplicas(self.areReplicasFolded ? 1 : self.allReplicas()));
  poplar::Graph machineGraph(target, withReplicas(self.allReplicas()));
  addCodelets(ir.sessionOptions, valueGraph);
  addCodelets(ir.sessionOptions, machineGraph);
  constexpr support::Logger logger(support::LogChannel::Popart, "transform");
  std::vector<poplar::program::Program> valuePrograms = {
      support::timed(logger, "lowerValueProgram", [&] {
        return lowerStep(ir, self.valueGraph(), valueGraph,
                         {.isPipelined = self.runsMachine &&
                                         ir.sessionOptions.enablePipelining});
      })};
  std::vector<poplar::program::Program> machinePrograms = {
      support::timed(logger, "lowerMachineProgram", [&] {
        return lowerStep(ir, self.machineGraph, machineGraph,
                         {.isPipelined = ir.sessionOptions.enablePipelining,
                          .isMachine = true});
      })};
  if (ir.sessionOptions.enableLoadAndOffloadRNGState) {
    for (auto [graph, programs] :
         {std::pair(&valueGraph, &valuePrograms),
          std::pair(&machineGraph, &machinePrograms)}) {
      RngPrograms state = addRngState(*graph);
      programs->push_back(state.toHost);
      programs->push_back(state.fromHost);
    }
  }
  try {
    return poplar::internal::compileLinked(
        valueGraph, valuePrograms, machineGraph, machinePrograms,
        engineOptions(ir.sessionOptions),
        progress ? progress : onScale(ir.sessionOptions));
  } catch (const poplar::internal::OutOfMemory &e) {
    throw memory_allocation_err(e.what(), e.summary);
  } catch (const poplar::graph_memory_allocation_error &e) {
    throw memory_allocation_err(e.what(), {});
  }
}

} // namespace popart
