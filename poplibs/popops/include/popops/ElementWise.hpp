// Element-wise operations on tensors: expressions, and a function for each
// operator. Shapes are broadcast by NumPy's rules.
#pragma once

#include <popops/Expr.hpp>
#include <popops/ExprOp.hpp>

#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace popops {

// The value of an expression over tensors, _1 being the first. Options, which
// only ever change the code on the device: enableGenerateCodelet,
// forceGenerateCodelet, enableVectorBroadcastOptimisations,
// enableExpressionOptimizations.
poplar::Tensor map(poplar::Graph &graph, const expr::Expr &expression,
                   const std::vector<poplar::Tensor> &tensors,
                   poplar::program::Sequence &prog,
                   const poplar::DebugContext &debugContext = {},
                   const poplar::OptionFlags &options = {});
poplar::Tensor map(poplar::Graph &graph, expr::UnaryOpType op,
                   const poplar::Tensor &a, poplar::program::Sequence &prog,
                   const poplar::DebugContext &debugContext = {},
                   const poplar::OptionFlags &options = {});
poplar::Tensor map(poplar::Graph &graph, expr::BinaryOpType op,
                   const poplar::Tensor &a, const poplar::Tensor &b,
                   poplar::program::Sequence &prog,
                   const poplar::DebugContext &debugContext = {},
                   const poplar::OptionFlags &options = {});
poplar::Tensor map(poplar::Graph &graph, expr::TernaryOpType op,
                   const poplar::Tensor &a, const poplar::Tensor &b,
                   const poplar::Tensor &c, poplar::program::Sequence &prog,
                   const poplar::DebugContext &debugContext = {},
                   const poplar::OptionFlags &options = {});
std::vector<poplar::Tensor> map(poplar::Graph &graph,
                                const std::vector<expr::Any> &expressions,
                                const std::vector<poplar::Tensor> &tensors,
                                poplar::program::Sequence &prog,
                                const poplar::DebugContext &debugContext = {},
                                const poplar::OptionFlags &options = {});

// The same into the first tensor.
void mapInPlace(poplar::Graph &graph, const expr::Expr &expression,
                const std::vector<poplar::Tensor> &tensors,
                poplar::program::Sequence &prog,
                const poplar::DebugContext &debugContext = {},
                const poplar::OptionFlags &options = {});
void mapInPlace(poplar::Graph &graph, expr::UnaryOpType op,
                const poplar::Tensor &a, poplar::program::Sequence &prog,
                const poplar::DebugContext &debugContext = {},
                const poplar::OptionFlags &options = {});
void mapInPlace(poplar::Graph &graph, expr::BinaryOpType op,
                const poplar::Tensor &a, const poplar::Tensor &b,
                poplar::program::Sequence &prog,
                const poplar::DebugContext &debugContext = {},
                const poplar::OptionFlags &options = {});
void mapInPlace(poplar::Graph &graph, expr::TernaryOpType op,
                const poplar::Tensor &a, const poplar::Tensor &b,
                const poplar::Tensor &c, poplar::program::Sequence &prog,
                const poplar::DebugContext &debugContext = {},
                const poplar::OptionFlags &options = {});

// The same into `output`.
void mapWithOutput(poplar::Graph &graph, const expr::Expr &expression,
                   const std::vector<poplar::Tensor> &tensors,
                   const poplar::Tensor &output,
                   poplar::program::Sequence &prog,
                   const poplar::DebugContext &debugContext = {},
                   const poplar::OptionFlags &options = {});

void mapWithOutput(poplar::Graph &graph, expr::UnaryOpType op,
                   const poplar::Tensor &a, const poplar::Tensor &output,
                   poplar::program::Sequence &prog,
                   const poplar::DebugContext &debugContext = {},
                   const poplar::OptionFlags &options = {});
void mapWithOutput(poplar::Graph &graph, expr::BinaryOpType op,
                   const poplar::Tensor &a, const poplar::Tensor &b,
                   const poplar::Tensor &output,
                   poplar::program::Sequence &prog,
                   const poplar::DebugContext &debugContext = {},
                   const poplar::OptionFlags &options = {});
void mapWithOutput(poplar::Graph &graph, expr::TernaryOpType op,
                   const poplar::Tensor &a, const poplar::Tensor &b,
                   const poplar::Tensor &c, const poplar::Tensor &output,
                   poplar::program::Sequence &prog,
                   const poplar::DebugContext &debugContext = {},
                   const poplar::OptionFlags &options = {});

// 1 / sqrt(src + epsilon), and 1 / src^2 - epsilon, computed in FLOAT. The
// forms without a type, below, give src's type.
poplar::Tensor varianceToInvStdDev(
    poplar::Graph &graph, const poplar::Tensor &src,
    const poplar::Tensor &epsilon, poplar::program::Sequence &prog,
    const poplar::Type &dstType, const poplar::DebugContext &debugContext = {});
poplar::Tensor
varianceToInvStdDev(poplar::Graph &graph, const poplar::Tensor &src,
                    float epsilon, poplar::program::Sequence &prog,
                    const poplar::Type &dstType,
                    const poplar::DebugContext &debugContext = {});
poplar::Tensor invStdDevToVariance(
    poplar::Graph &graph, const poplar::Tensor &src,
    const poplar::Tensor &epsilon, poplar::program::Sequence &prog,
    const poplar::Type &dstType, const poplar::DebugContext &debugContext = {});
poplar::Tensor
invStdDevToVariance(poplar::Graph &graph, const poplar::Tensor &src,
                    float epsilon, poplar::program::Sequence &prog,
                    const poplar::Type &dstType,
                    const poplar::DebugContext &debugContext = {});

// A tensor mapped as the result of an operation on `inputs` would be.
poplar::Tensor
createOutputForElementWiseOp(poplar::Graph &graph,
                             const std::vector<poplar::Tensor> &inputs,
                             const poplar::Type &outputType,
                             const poplar::DebugContext &debugContext = {});

namespace detail {

// A constant may stand for a tensor of its own type; any floating-point one for
// FLOAT and HALF.
template <typename T> void checkConstantType(const poplar::Type &type) {
  const bool isFloating = type == poplar::FLOAT || type == poplar::HALF;
  const bool matches = isFloating
                           ? std::is_floating_point<T>::value
                           : type == poplar::equivalent_device_type<T>().value;
  if (!matches) {
    throw std::runtime_error(
        "Type mismatch between Binary op Tensor and constant");
  }
}

} // namespace detail

#define POPOPS_COMMON_PARAMETERS                                               \
  poplar::program::Sequence &prog,                                             \
      const poplar::DebugContext &debugContext = {},                           \
                                 const poplar::OptionFlags &options = {}
#define POPOPS_IF_NUMBER(Result)                                               \
  template <typename T>                                                        \
  inline typename std::enable_if<std::is_arithmetic<T>::value, Result>::type

// add(), addInPlace(), addWithOutput() and so on.
#define POPOPS_UNARY_TEST(function, Class, ENUMERATOR)                         \
  inline poplar::Tensor function(poplar::Graph &graph,                         \
                                 const poplar::Tensor &a,                      \
                                 POPOPS_COMMON_PARAMETERS) {                   \
    return map(graph, expr::Class(expr::_1), {a}, prog, debugContext,          \
               options);                                                       \
  }                                                                            \
  inline void function##WithOutput(                                            \
      poplar::Graph &graph, const poplar::Tensor &a,                           \
      const poplar::Tensor &out, POPOPS_COMMON_PARAMETERS) {                   \
    mapWithOutput(graph, expr::Class(expr::_1), {a}, out, prog, debugContext,  \
                  options);                                                    \
  }
#define POPOPS_UNARY(function, Class, ENUMERATOR)                              \
  POPOPS_UNARY_TEST(function, Class, ENUMERATOR)                               \
  inline void function##InPlace(poplar::Graph &graph, const poplar::Tensor &a, \
                                POPOPS_COMMON_PARAMETERS) {                    \
    mapInPlace(graph, expr::Class(expr::_1), {a}, prog, debugContext,          \
               options);                                                       \
  }
#define POPOPS_BINARY(function, Class, ENUMERATOR)                             \
  inline poplar::Tensor function(                                              \
      poplar::Graph &graph, const poplar::Tensor &a, const poplar::Tensor &b,  \
      POPOPS_COMMON_PARAMETERS) {                                              \
    return map(graph, expr::Class(expr::_1, expr::_2), {a, b}, prog,           \
               debugContext, options);                                         \
  }                                                                            \
  inline void function##InPlace(poplar::Graph &graph, const poplar::Tensor &a, \
                                const poplar::Tensor &b,                       \
                                POPOPS_COMMON_PARAMETERS) {                    \
    mapInPlace(graph, expr::Class(expr::_1, expr::_2), {a, b}, prog,           \
               debugContext, options);                                         \
  }                                                                            \
  inline void function##WithOutput(                                            \
      poplar::Graph &graph, const poplar::Tensor &a, const poplar::Tensor &b,  \
      const poplar::Tensor &out, POPOPS_COMMON_PARAMETERS) {                   \
    mapWithOutput(graph, expr::Class(expr::_1, expr::_2), {a, b}, out, prog,   \
                  debugContext, options);                                      \
  }                                                                            \
  POPOPS_IF_NUMBER(poplar::Tensor)                                             \
  function(poplar::Graph &graph, const poplar::Tensor &a, T b,                 \
           POPOPS_COMMON_PARAMETERS) {                                         \
    detail::checkConstantType<T>(a.elementType());                             \
    return map(graph, expr::Class(expr::_1, expr::Const(b)), {a}, prog,        \
               debugContext, options);                                         \
  }                                                                            \
  POPOPS_IF_NUMBER(poplar::Tensor)                                             \
  function(poplar::Graph &graph, T a, const poplar::Tensor &b,                 \
           POPOPS_COMMON_PARAMETERS) {                                         \
    detail::checkConstantType<T>(b.elementType());                             \
    return map(graph, expr::Class(expr::Const(a), expr::_1), {b}, prog,        \
               debugContext, options);                                         \
  }                                                                            \
  POPOPS_IF_NUMBER(void)                                                       \
  function##InPlace(poplar::Graph &graph, const poplar::Tensor &a, T b,        \
                    POPOPS_COMMON_PARAMETERS) {                                \
    detail::checkConstantType<T>(a.elementType());                             \
    mapInPlace(graph, expr::Class(expr::_1, expr::Const(b)), {a}, prog,        \
               debugContext, options);                                         \
  }                                                                            \
  POPOPS_IF_NUMBER(void)                                                       \
  function##WithOutput(poplar::Graph &graph, const poplar::Tensor &a, T b,     \
                       const poplar::Tensor &out, POPOPS_COMMON_PARAMETERS) {  \
    detail::checkConstantType<T>(a.elementType());                             \
    mapWithOutput(graph, expr::Class(expr::_1, expr::Const(b)), {a}, out,      \
                  prog, debugContext, options);                                \
  }                                                                            \
  POPOPS_IF_NUMBER(void)                                                       \
  function##WithOutput(poplar::Graph &graph, T a, const poplar::Tensor &b,     \
                       const poplar::Tensor &out, POPOPS_COMMON_PARAMETERS) {  \
    detail::checkConstantType<T>(b.elementType());                             \
    mapWithOutput(graph, expr::Class(expr::Const(a), expr::_1), {b}, out,      \
                  prog, debugContext, options);                                \
  }
#include <popops/ElementWiseOps.def>

// select(a, b, predicate): a where the BOOL predicate holds, else b.
// clamp(a, lower, upper): a kept within the limits.
#define POPOPS_TERNARY(function, Class)                                        \
  inline poplar::Tensor function(                                              \
      poplar::Graph &graph, const poplar::Tensor &a, const poplar::Tensor &b,  \
      const poplar::Tensor &c, POPOPS_COMMON_PARAMETERS) {                     \
    return map(graph, expr::Class(expr::_1, expr::_2, expr::_3), {a, b, c},    \
               prog, debugContext, options);                                   \
  }                                                                            \
  inline void function##InPlace(                                               \
      poplar::Graph &graph, const poplar::Tensor &a, const poplar::Tensor &b,  \
      const poplar::Tensor &c, POPOPS_COMMON_PARAMETERS) {                     \
    mapInPlace(graph, expr::Class(expr::_1, expr::_2, expr::_3), {a, b, c},    \
               prog, debugContext, options);                                   \
  }                                                                            \
  inline void function##WithOutput(                                            \
      poplar::Graph &graph, const poplar::Tensor &a, const poplar::Tensor &b,  \
      const poplar::Tensor &c, const poplar::Tensor &out,                      \
      POPOPS_COMMON_PARAMETERS) {                                              \
    mapWithOutput(graph, expr::Class(expr::_1, expr::_2, expr::_3), {a, b, c}, \
                  out, prog, debugContext, options);                           \
  }
POPOPS_TERNARY(select, Select)
POPOPS_TERNARY(clamp, Clamp)
#undef POPOPS_TERNARY

// The same with constants.
POPOPS_IF_NUMBER(poplar::Tensor)
select(poplar::Graph &graph, const poplar::Tensor &a, T b,
       const poplar::Tensor &predicate, POPOPS_COMMON_PARAMETERS) {
  detail::checkConstantType<T>(a.elementType());
  return map(graph, expr::Select(expr::_1, expr::Const(b), expr::_2),
             {a, predicate}, prog, debugContext, options);
}
POPOPS_IF_NUMBER(poplar::Tensor)
select(poplar::Graph &graph, T a, const poplar::Tensor &b,
       const poplar::Tensor &predicate, POPOPS_COMMON_PARAMETERS) {
  detail::checkConstantType<T>(b.elementType());
  return map(graph, expr::Select(expr::Const(a), expr::_1, expr::_2),
             {b, predicate}, prog, debugContext, options);
}
POPOPS_IF_NUMBER(poplar::Tensor)
select(poplar::Graph &graph, T a, T b, const poplar::Tensor &predicate,
       POPOPS_COMMON_PARAMETERS) {
  const poplar::Type type = poplar::equivalent_device_type<T>().value;
  return map(graph,
             expr::Select(expr::Cast(expr::Const(a), type),
                          expr::Cast(expr::Const(b), type), expr::_1),
             {predicate}, prog, debugContext, options);
}
POPOPS_IF_NUMBER(void)
selectInPlace(poplar::Graph &graph, const poplar::Tensor &a, T b,
              const poplar::Tensor &predicate, POPOPS_COMMON_PARAMETERS) {
  detail::checkConstantType<T>(a.elementType());
  mapInPlace(graph, expr::Select(expr::_1, expr::Const(b), expr::_2),
             {a, predicate}, prog, debugContext, options);
}
POPOPS_IF_NUMBER(poplar::Tensor)
clamp(poplar::Graph &graph, const poplar::Tensor &a, T lower, T upper,
      POPOPS_COMMON_PARAMETERS) {
  detail::checkConstantType<T>(a.elementType());
  return map(graph,
             expr::Clamp(expr::_1, expr::Const(lower), expr::Const(upper)), {a},
             prog, debugContext, options);
}
POPOPS_IF_NUMBER(void)
clampInPlace(poplar::Graph &graph, const poplar::Tensor &a, T lower, T upper,
             POPOPS_COMMON_PARAMETERS) {
  detail::checkConstantType<T>(a.elementType());
  mapInPlace(graph,
             expr::Clamp(expr::_1, expr::Const(lower), expr::Const(upper)), {a},
             prog, debugContext, options);
}
POPOPS_IF_NUMBER(void)
clampWithOutput(poplar::Graph &graph, const poplar::Tensor &a, T lower, T upper,
                const poplar::Tensor &out, POPOPS_COMMON_PARAMETERS) {
  detail::checkConstantType<T>(a.elementType());
  mapWithOutput(graph,
                expr::Clamp(expr::_1, expr::Const(lower), expr::Const(upper)),
                {a}, out, prog, debugContext, options);
}
#undef POPOPS_COMMON_PARAMETERS
#undef POPOPS_IF_NUMBER

} // namespace popops
