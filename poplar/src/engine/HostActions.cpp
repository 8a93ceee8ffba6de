#include "engine/HostActions.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <cstring>

namespace poplar::engine {
namespace {

using internal::isPresent;
using internal::TensorView;

// Calls f(row, position) for each row that the offsets name.
template <typename F>
void forEachRow(const TensorView &offsets, const std::byte *values, F &&f) {
  if (!isPresent(offsets)) {
    f(0, 0);
    return;
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(offsets.elements());
       ++i) {
    std::uint32_t row = 0;
    std::memcpy(&row, values + i * sizeof(row), sizeof(row));
    f(row, i);
  }
}

void act(HostServices &host, const internal::RemoteReadNode &op,
         std::byte *const *operands) {
  const std::size_t bytes = host.remoteBuffers.rowBytes(op.buffer);
  std::byte *destination = operands[isPresent(op.offsets) ? 1 : 0];
  forEachRow(op.offsets, operands[0], [&](std::uint32_t row, std::size_t i) {
    host.remoteBuffers.read(op.buffer, op.replica, row,
                            destination + i * bytes);
  });
}

void act(HostServices &host, const internal::RemoteWriteNode &op,
         std::byte *const *operands) {
  const std::size_t bytes = host.remoteBuffers.rowBytes(op.buffer);
  const std::byte *source = operands[isPresent(op.offsets) ? 1 : 0];
  forEachRow(op.offsets, operands[0], [&](std::uint32_t row, std::size_t i) {
    host.remoteBuffers.write(op.buffer, op.replica, row, source + i * bytes);
  });
}

void act(HostServices &host, const internal::PrintTensorNode &op,
         std::byte *const *operands) {
  // An empty tensor has no operand.
  host.printTensor(op.title, op.view,
                   isPresent(op.view) ? operands[0] : nullptr, op.format,
                   op.replica);
}

void act(HostServices &, const internal::AbortNode &op,
         std::byte *const *operands) {
  const std::size_t size = support::sizeOf(op.condition.type);
  const bool isFalse =
      isPresent(op.condition) &&
      std::all_of(operands[0], operands[0] + size,
                  [](std::byte byte) { return byte == std::byte{0}; });
  support::requireUser<application_runtime_error>(
      isFalse, "Abort program executed{}{}", op.message.empty() ? "" : ": ",
      op.message);
}

void act(HostServices &host, const internal::ErrorNode &op,
         std::byte *const *operands) {
  host.printTensor(op.message, op.view,
                   isPresent(op.view) ? operands[0] : nullptr, {});
  throw application_runtime_error(op.message);
}

void act(HostServices &, const internal::CycleCountNode &op,
         std::byte *const *operands) {
  const std::uint32_t words[] = {static_cast<std::uint32_t>(op.cycles),
                                 static_cast<std::uint32_t>(op.cycles >> 32)};
  std::memcpy(operands[0], words, sizeof(words));
}

template <typename Op>
void act(HostServices &, const Op &, std::byte *const *) {
  support::requireInternal(false, "a program that the host does not serve");
}

} // namespace

void runHostAction(HostServices &host, const internal::ProgramNode &node,
                   std::byte *const *operands) {
  std::visit([&](const auto &op) { act(host, op, operands); }, node.op);
}

} // namespace poplar::engine
