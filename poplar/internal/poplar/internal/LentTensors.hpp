// Values that an engine shares with a front end that keeps them anyway, weights
// of an inference for example, of which the engine reads what it computed.
#pragma once

#include <poplar/Engine.hpp>

#include <cstddef>
#include <memory>

namespace poplar::internal {

// As Engine::writeTensor, of bytes that nobody changes from now on. The engine
// holds them for as long as they are the tensor's value, unless its programs
// need a copy of their own.
void lendTensor(Engine &engine, StringRef handle,
                const std::shared_ptr<const void> &bytes, std::size_t size);

// Whether the tensor, which the host can read, still is those very bytes.
bool isLent(const Engine &engine, StringRef handle, const void *bytes);

} // namespace poplar::internal
