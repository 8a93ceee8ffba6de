// The operators of element-wise expressions.
#pragma once

namespace popops {
namespace expr {

enum class UnaryOpType {
#define POPOPS_UNARY(function, Class, ENUMERATOR) ENUMERATOR,
#define POPOPS_UNARY_TEST(function, Class, ENUMERATOR) ENUMERATOR,
#define POPOPS_UNARY_CLASS(Class, ENUMERATOR) ENUMERATOR,
#include <popops/ElementWiseOps.def>
};

enum class BinaryOpType {
#define POPOPS_BINARY(function, Class, ENUMERATOR) ENUMERATOR,
#include <popops/ElementWiseOps.def>
};

enum class TernaryOpType { CLAMP, SELECT };

// The enumerator's name, such as "ADD".
const char *toString(UnaryOpType op);
const char *toString(BinaryOpType op);
const char *toString(TernaryOpType op);

} // namespace expr
} // namespace popops
