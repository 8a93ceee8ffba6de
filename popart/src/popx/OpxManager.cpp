// The registry of lowerings that shared objects bring.
#include <popart/popx/opxmanager.hpp>

#include <support/Error.hpp>

#include <map>
#include <utility>

namespace popart::popx {
namespace {

std::map<OperatorIdentifier, OpxManager::OpxFactoryFunc> &factories() {
  static std::map<OperatorIdentifier, OpxManager::OpxFactoryFunc> all;
  return all;
}

} // namespace

void OpxManager::registerOpx(const OperatorIdentifier &opid,
                             OpxFactoryFunc factory) {
  factories().try_emplace(opid, std::move(factory));
}

std::unique_ptr<Opx> OpxManager::createOpx(Op *op, Devicex *devicex) {
  auto found = factories().find(op->opid);
  support::requireUser<error>(found != factories().end(),
                              "Could not create opx for '{}.{}:{}'; register "
                              "one with popx::OpxCreator",
                              op->opid.domain, op->opid.type, op->opid.version);
  return found->second(op, devicex);
}

} // namespace popart::popx
