// PopART's types and shapes as those of the layers below.
#pragma once

#include <popart/tensorinfo.hpp>
#include <support/DataType.hpp>

#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>

#include <vector>

namespace popart {

// Throws popart::error for types that the device does not have. 64-bit integers
// are 32-bit ones on the device.
poplar::Type poplarType(DataType type);
support::DataType deviceType(DataType type);

// The host's bytes of a tensor as the device keeps them, and back.
std::vector<char> toDeviceBytes(const TensorInfo &info,
                                const std::vector<char> &host);
std::vector<char> toHostBytes(const TensorInfo &info,
                              const std::vector<char> &device);
// How many bytes the device keeps.
std::size_t deviceBytes(const TensorInfo &info);

std::vector<std::size_t> poplarShape(const Shape &shape);

// A view of `tensor` with this shape, repeated where NumPy's rules say so.
poplar::Tensor broadcastTo(poplar::Tensor tensor, const Shape &shape);

} // namespace popart
