// A kind's reference as a plan: what runs when no fast kernel takes a call.
#pragma once

#include <kernels/Kind.hpp>

#include <memory>
#include <vector>

namespace poplar::compiler {

std::unique_ptr<kernels::Plan>
makeReferencePlan(const kernels::Kind &kind,
                  const kernels::Signature &signature);

// The bytes from an operand's lowest-address element to the end of its highest.
std::int64_t spanBytes(const kernels::OperandSpec &operand);

} // namespace poplar::compiler
