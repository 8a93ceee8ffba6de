// A kind of operation, declared once: rules, reference, fast kernels. The
// descriptor (poplar/internal/VertexGroup.hpp) names a kind; the engine runs
// it; the model prices the phases that PopLibs planned for it.
#pragma once

#include <kernels/KernelEntry.hpp>
#include <kernels/Signature.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace kernels {

// A reference implementation sees each operand as a strided array of its own
// type; data[i] points to element 0 of operand i (inputs, then outputs).
struct ReferenceCall {
  Signature signature;
  std::span<std::byte *const> data;
};

// Output `output` may share storage with input `input`: element i of the output
// depends on element i of that input only, or the kind updates it in place.
struct InPlacePair {
  std::uint32_t input;
  std::uint32_t output;
};

struct Kind {
  // Stable name, used in files, profiles and messages, for example "matmul".
  std::string_view name;

  // The outputs' types and shapes for these inputs, side outputs included.
  // Throws std::invalid_argument, naming what is wrong, for a call that makes
  // no sense.
  std::vector<TensorType> (*infer)(const Attributes &attributes,
                                   std::span<const TensorType> inputs);

  // Slow and obvious: the oracle for every kernel of this kind.
  void (*reference)(const ReferenceCall &call);

  // Fast implementations, best first; may be empty (the reference then runs).
  std::span<const KernelEntry> kernels;

  std::span<const InPlacePair> inPlace = {};
};

// Every kind there is, in the order of kernels/src/KindList.cpp.
std::span<const Kind *const> allKinds();

// Throws support::InternalError for an unknown name.
const Kind &findKind(std::string_view name);

} // namespace kernels
