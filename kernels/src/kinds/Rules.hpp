// What the kinds' rules have in common: checks of counts, ranks, types and
// shapes that say what was given and what is allowed.
#pragma once

#include <kernels/Signature.hpp>
#include <support/Error.hpp>

#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string_view>

namespace kernels {

template <typename... Args>
void require(bool condition, fmt::format_string<Args...> message,
             Args &&...args) {
  support::requireUser<std::invalid_argument>(condition, message,
                                              std::forward<Args>(args)...);
}

void requireInputCount(std::string_view kind,
                       std::span<const TensorType> inputs, std::size_t count);

void requireRank(std::string_view kind, std::string_view operand,
                 const TensorType &tensor, std::size_t rank);

void requireShape(std::string_view kind, std::string_view operand,
                  const TensorType &tensor, const Shape &shape);

void requireType(std::string_view kind, std::string_view operand,
                 const TensorType &tensor,
                 std::initializer_list<DataType> allowed);

// FLOAT or HALF.
void requireFloating(std::string_view kind, std::string_view operand,
                     const TensorType &tensor);

// A FLOAT of one element: a hyper-parameter.
void requireScalar(std::string_view kind, std::string_view operand,
                   const TensorType &tensor);

// The type of a product's result: the one that attribute "outType" (the
// number of a DataType, FLOAT or HALF) names, else the operands'.
DataType productType(std::string_view kind, const Attributes &attributes,
                     DataType operands);

// The string attribute, which must be one of `allowed`.
const std::string &
requireChoice(std::string_view kind, const Attributes &attributes,
              std::string_view name,
              std::initializer_list<std::string_view> allowed);

// The attribute as `count` numbers of at least `least`.
const Attributes::Ints &requireInts(std::string_view kind,
                                    const Attributes &attributes,
                                    std::string_view name, std::size_t count,
                                    std::int64_t least);

} // namespace kernels
