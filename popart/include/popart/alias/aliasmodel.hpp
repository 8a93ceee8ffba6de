// What operators say about sharing memory. In-place variants are the compiler's
// choice here: nothing asks for a model, and operators need not grow it.
#pragma once

namespace poprithms {
namespace memory {
namespace inplace {

// A suggestion to run an operator in place.
class Proposal {};

} // namespace inplace
} // namespace memory
} // namespace poprithms

namespace popart {

class AliasModel {};

} // namespace popart
