// What a session tells of its model, its program and its runs.
#include <session/Implementation.hpp>

#include <ir/Json.hpp>
#include <ir/Print.hpp>

#include <poplar/internal/LinkedPrograms.hpp>

#include <sstream>

namespace popart {

std::string memory_allocation_err::getSummaryReport() const {
  support::requireUser<error>(
      !summary_.empty(),
      "There is no report of a program that was not compiled; set the engine "
      "option debug.allowOutOfMemory to \"true\"");
  return summary_;
}

std::uint64_t Session::getCycleCount(const std::string &id) {
  Implementation &self = *implementation_;
  const SessionOptions &options = self.ir->sessionOptions;
  support::requireUser<error>(
      options.instrumentWithHardwareCycleCounter,
      "SessionOption 'instrumentWithHardwareCycleCounter' must be set to true "
      "in order to measure cycle count");
  support::requireUser<error>(self.hasRun,
                              "Must call run before getCycleCount.");
  bool isKnown = id.empty();
  for (int ipu = 0; ipu < self.device->getNumIpus(); ++ipu) {
    isKnown = isKnown ||
              (options.hardwareInstrumentations.count(Instrumentation::Inner) &&
               id == fmt::format("inner_ipu_{}", ipu));
  }
  support::requireUser<error>(
      isKnown,
      "Invalid id for cycle counter, '{}'. Ids are '' for the whole step and, "
      "with Instrumentation::Inner, 'inner_ipu_<i>'",
      id);
  std::uint64_t cycles = poplar::internal::modelledCycles(*self.engine);
  // Inside the loops of a step every IPU waits for the others.
  auto batches = static_cast<std::uint64_t>(self.ir->dataFlow.batchesPerStep());
  return id.empty() ? cycles : cycles / batches;
}

std::string Session::getSummaryReport(bool resetProfile) {
  poplar::Engine &engine = implementation_->requireEngine("getSummaryReport");
  poplar::OptionFlags options;
  for (const auto &[name, value] :
       implementation_->ir->sessionOptions.reportOptions) {
    options.set(name, value);
  }
  std::ostringstream text;
  engine.printProfileSummary(text, options);
  if (resetProfile) {
    engine.resetExecutionProfile();
  }
  return text.str();
}

std::string Session::getSerializedGraph() const {
  implementation_->requireEngine("getSerializedGraph");
  std::ostringstream bytes;
  implementation_->executable.serialize(bytes);
  return bytes.str();
}

std::string Session::printIr(bool machine) const {
  return printGraph(machine ? implementation_->machineGraph
                            : implementation_->ir->getMainGraph());
}

std::string Session::serializeIr(IrSerializationFormat) const {
  return toJson(implementation_->machineGraph);
}

const Ir &Session::getIr() const {
  return *implementation_->ir;
}

std::shared_ptr<Ir> Session::shareIr() const {
  return implementation_->ir;
}

} // namespace popart
