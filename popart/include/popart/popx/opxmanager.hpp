// How a shared object of the user's makes the lowerings of its operators known:
// by static objects, when it is loaded.
#pragma once

#include <popart/op.hpp>
#include <popart/popx/devicex.hpp>
#include <popart/popx/opx.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace popart {
namespace popx {

class OpxManager {
public:
  using OpxFactoryFunc = std::function<std::unique_ptr<Opx>(Op *, Devicex *)>;

  // Of several registrations for one operator the first counts.
  static void registerOpx(const OperatorIdentifier &opid,
                          OpxFactoryFunc factory);
  // Throws popart::error when the operator has none.
  static std::unique_ptr<Opx> createOpx(Op *op, Devicex *devicex);
};

template <typename OPX> class OpxCreator {
public:
  explicit OpxCreator(const OperatorIdentifier &opid) {
    OpxManager::registerOpx(opid, make);
  }
  explicit OpxCreator(const std::vector<OperatorIdentifier> &opids) {
    for (const OperatorIdentifier &opid : opids) {
      OpxManager::registerOpx(opid, make);
    }
  }
  // An operator that must be gone by now: lowering it throws popart::error.
  OpxCreator(const OperatorIdentifier &opid, const std::string &message) {
    OpxManager::registerOpx(opid,
                            [message](Op *, Devicex *) -> std::unique_ptr<Opx> {
                              throw error("{}", message);
                            });
  }
  OpxCreator(const OperatorIdentifier &opid,
             OpxManager::OpxFactoryFunc factory) {
    OpxManager::registerOpx(opid, factory);
  }

private:
  static std::unique_ptr<Opx> make(Op *op, Devicex *devicex) {
    return std::unique_ptr<Opx>(new OPX(op, devicex));
  }
};

} // namespace popx
} // namespace popart
