#include "Interpreter.hpp"

#include "ScalarFunctions.hpp"

#include <support/Error.hpp>
#include <support/Half.hpp>

#include <cstring>

namespace kernels::elementwise {

using support::DataType;

namespace {

// Calls visit with a value of the C++ type that computes with `type`; a BOOL is
// a byte of 0 or 1.
template <typename Visit> auto visitType(DataType type, const Visit &visit) {
  switch (type) {
  case DataType::Char:
  case DataType::SignedChar:
    return visit(std::int8_t{});
  case DataType::Bool:
  case DataType::UnsignedChar:
    return visit(std::uint8_t{});
  case DataType::Short:
    return visit(std::int16_t{});
  case DataType::UnsignedShort:
    return visit(std::uint16_t{});
  case DataType::Int:
    return visit(std::int32_t{});
  case DataType::UnsignedInt:
    return visit(std::uint32_t{});
  case DataType::LongLong:
    return visit(std::int64_t{});
  case DataType::UnsignedLongLong:
    return visit(std::uint64_t{});
  case DataType::Half:
  case DataType::Float:
    return visit(float{});
  case DataType::Quarter:
    break;
  }
  throw support::InternalError("internal error: no element-wise quarter");
}

// Out-of-range numbers saturate: the conversion is undefined in C++.
template <typename To> To fromFloat(double value) {
  if constexpr (std::is_integral_v<To>) {
    constexpr auto lowest = std::numeric_limits<To>::lowest();
    constexpr auto highest = std::numeric_limits<To>::max();
    if (value != value) {
      return To(0);
    }
    if (value <= static_cast<double>(lowest)) {
      return lowest;
    }
    return value >= static_cast<double>(highest) ? highest : To(value);
  } else {
    return To(value);
  }
}

} // namespace

template <typename T> T Interpreter::get(const Cell &cell) {
  if constexpr (std::is_same_v<T, float>) {
    return cell.asFloat;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(cell.asInt);
  } else {
    return static_cast<T>(cell.asUnsigned);
  }
}

template <typename T> Interpreter::Cell Interpreter::make(T value) {
  Cell cell{};
  if constexpr (std::is_same_v<T, float>) {
    cell.asFloat = value;
  } else if constexpr (std::is_signed_v<T>) {
    cell.asInt = value;
  } else {
    cell.asUnsigned = value;
  }
  return cell;
}

// An operator that does not compile for T (say ~ on float) has been refused by
// the type rules, so its row is never reached.
template <typename T>
Interpreter::Cell Interpreter::applyOperator(ElementwiseOp op,
                                             const Cell *operands) {
  [[maybe_unused]] const T a = get<T>(operands[0]);
  [[maybe_unused]] T b{};
  [[maybe_unused]] T c{};
  const auto &info = elementwiseOpInfo(op);
  if (info.arity > 1) {
    b = get<T>(operands[1]);
  }
  if (op == ElementwiseOp::SELECT) {
    c = T(get<bool>(operands[2]));
  } else if (info.arity > 2) {
    c = get<T>(operands[2]);
  }
  switch (op) {
#define KERNELS_VALUE(name, function, Result)                                  \
  case ElementwiseOp::name:                                                    \
    if constexpr (requires { Result(function); }) {                            \
      return make<Result>(Result(function));                                   \
    }                                                                          \
    break;
#define KERNELS_UNARY(name, function, ...) KERNELS_VALUE(name, function, T)
#define KERNELS_BINARY(name, function, ...) KERNELS_VALUE(name, function, T)
#define KERNELS_TERNARY(name, function, ...) KERNELS_VALUE(name, function, T)
#define KERNELS_PREDICATE(name, function, ...)                                 \
  KERNELS_VALUE(name, function, bool)
#define KERNELS_UNARY_PREDICATE(name, function, ...)                           \
  KERNELS_VALUE(name, function, bool)
#include <kernels/ElementwiseOps.def>
#undef KERNELS_VALUE
  }
  throw support::InternalError(fmt::format(
      "internal error: {} does not take its operands' type", info.name));
}

Interpreter::Cell Interpreter::load(DataType type, const std::byte *from) {
  if (type == DataType::Half) {
    support::Half half;
    std::memcpy(&half, from, sizeof half);
    return make(static_cast<float>(half));
  }
  return visitType(type, [&](auto value) {
    std::memcpy(&value, from, sizeof value);
    return make(value);
  });
}

void Interpreter::store(DataType type, std::byte *to, const Cell &cell) {
  if (type == DataType::Half) {
    const support::Half half(cell.asFloat);
    std::memcpy(to, &half, sizeof half);
    return;
  }
  visitType(type, [&](auto value) {
    value = get<decltype(value)>(cell);
    std::memcpy(to, &value, sizeof value);
    return 0;
  });
}

Interpreter::Cell Interpreter::convert(const Cell &cell, DataType from,
                                       DataType to) {
  const Cell result = visitType(from, [&](auto source) {
    source = get<decltype(source)>(cell);
    if (to == DataType::Bool) {
      return make(source != decltype(source)(0));
    }
    return visitType(to, [&](auto target) {
      using To = decltype(target);
      if constexpr (std::is_same_v<decltype(source), float>) {
        return make(fromFloat<To>(source));
      } else {
        return make(static_cast<To>(source));
      }
    });
  });
  return to == DataType::Half ? make(support::roundToHalf(result.asFloat))
                              : result;
}

Interpreter::Cell Interpreter::fromConstant(double value, DataType type) {
  if (type == DataType::Bool) {
    return make(value != 0);
  }
  const Cell cell = visitType(type, [&](auto target) {
    return make(fromFloat<decltype(target)>(value));
  });
  return type == DataType::Half ? make(support::roundToHalf(cell.asFloat))
                                : cell;
}

Interpreter::Interpreter(const Expression &expression,
                         std::span<const DataType> inputs)
    : types_(expression.stepTypes(inputs)) {
  std::vector<DataType> operands; // the types on the stack
  for (std::size_t i = 0; i < types_.size(); ++i) {
    const auto &step = expression.steps()[i];
    unsigned taken = 0;
    if (step.kind == ExpressionStep::Kind::Cast) {
      taken = 1;
    } else if (step.kind == ExpressionStep::Kind::Operator) {
      taken = elementwiseOpInfo(static_cast<ElementwiseOp>(step.index)).arity;
    }
    operands.resize(operands.size() - taken + 1);
    DataType &slot = operands.back();
    steps_.push_back({step, types_[i], taken == 0 ? types_[i] : slot});
    slot = types_[i];
  }
}

void Interpreter::evaluate(std::span<const std::byte *const> inputs,
                           std::byte *output) {
  stack_.clear();
  for (const auto &[step, type, operand] : steps_) {
    switch (step.kind) {
    case ExpressionStep::Kind::Input:
      stack_.push_back(load(type, inputs[step.index]));
      break;
    case ExpressionStep::Kind::Constant:
      stack_.push_back(fromConstant(step.constant, type));
      break;
    case ExpressionStep::Kind::Cast:
      stack_.back() = convert(stack_.back(), operand, type);
      break;
    case ExpressionStep::Kind::Operator: {
      const auto op = static_cast<ElementwiseOp>(step.index);
      const std::size_t arity = elementwiseOpInfo(op).arity;
      const Cell *operands = stack_.data() + stack_.size() - arity;
      Cell result = visitType(operand, [&](auto value) {
        return applyOperator<decltype(value)>(op, operands);
      });
      if (type == DataType::Half) {
        result.asFloat = support::roundToHalf(result.asFloat);
      }
      stack_.resize(stack_.size() - arity);
      stack_.push_back(result);
      break;
    }
    }
  }
  store(types_.back(), output, stack_.back());
}

} // namespace kernels::elementwise
