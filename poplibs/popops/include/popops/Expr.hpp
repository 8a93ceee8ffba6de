// Element-wise expressions: trees of operators over placeholders and constants,
// for popops::map. Expressions are values; operators copy their operands.
#pragma once

#include <popops/ExprOp.hpp>

#include <poplar/Type.hpp>
#include <poplar/TypeTraits.hpp>

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace popops {
namespace expr {

class Expr {
public:
  virtual ~Expr() = default;

  virtual std::unique_ptr<Expr> clone() const = 0;
  // As a name of a codelet would contain it, for example "Add_1_2".
  virtual std::string name() const = 0;
  virtual bool deepEquals(const Expr &other) const = 0;
  void print(std::ostream &stream) const;

  template <typename T> bool isA() const {
    return dynamic_cast<const T *>(this) != nullptr;
  }
  template <typename T> const T *getAs() const {
    return static_cast<const T *>(this);
  }
};

// Holds a copy of any expression.
class Any {
public:
  Any(const Expr &expression) : expression_(expression.clone()) {}
  Any(const Any &other) : expression_(other.expression_->clone()) {}
  Any(Any &&) noexcept = default;
  Any &operator=(const Any &other) {
    expression_ = other.expression_->clone();
    return *this;
  }
  Any &operator=(Any &&) noexcept = default;

  operator Expr &() { return *expression_; }
  operator const Expr &() const { return *expression_; }

private:
  std::unique_ptr<Expr> expression_;
};

class Const : public Expr {
public:
  template <typename T>
  explicit Const(
      T value,
      typename std::enable_if<std::is_arithmetic<T>::value>::type * = nullptr)
      : type_(poplar::equivalent_device_type<T>().value),
        value_(static_cast<double>(value)),
        integer_(std::is_integral<T>::value ? static_cast<std::int64_t>(value)
                                            : 0) {}

  // The host type's device equivalent.
  poplar::Type type() const { return type_; }
  double value() const { return value_; }
  // All bits of an integer, which may have more than a double.
  std::int64_t integer() const { return integer_; }

  std::unique_ptr<Expr> clone() const override;
  std::string name() const override;
  bool deepEquals(const Expr &other) const override;

protected:
  Const(poplar::Type type, double value)
      : type_(type), value_(value), integer_(0) {}

private:
  poplar::Type type_;
  double value_;
  std::int64_t integer_;
};

class ConstHalf : public Const {
public:
  explicit ConstHalf(float value) : Const(poplar::HALF, value) {}
  std::unique_ptr<Expr> clone() const override;
};

inline ConstHalf operator""_half(long double value) {
  return ConstHalf(static_cast<float>(value));
}

// Tensor number `index` of the call, counted from 1.
class PlaceHolder : public Expr {
public:
  explicit PlaceHolder(unsigned index) : index_(index) {}
  unsigned getIndex() const { return index_; }

  std::unique_ptr<Expr> clone() const override;
  std::string name() const override;
  bool deepEquals(const Expr &other) const override;

private:
  unsigned index_;
};

class Cast : public Expr {
public:
  Cast(const Expr &operand, const poplar::Type &type)
      : operand_(operand.clone()), type_(type) {}
  const Expr &getLHS() const { return *operand_; }
  const poplar::Type &getRHSType() const { return type_; }

  std::unique_ptr<Expr> clone() const override;
  std::string name() const override;
  bool deepEquals(const Expr &other) const override;

private:
  std::unique_ptr<Expr> operand_;
  poplar::Type type_;
};

class UnaryOp : public Expr {
public:
  UnaryOp(UnaryOpType type, const Expr &a) : type_(type), a_(a.clone()) {}
  UnaryOpType getOpType() const { return type_; }
  const Expr &getArg() const { return *a_; }

  std::unique_ptr<Expr> clone() const override;
  std::string name() const override;
  bool deepEquals(const Expr &other) const override;

private:
  UnaryOpType type_;
  std::unique_ptr<Expr> a_;
};

class BinaryOp : public Expr {
public:
  BinaryOp(BinaryOpType type, const Expr &a, const Expr &b)
      : type_(type), a_(a.clone()), b_(b.clone()) {}
  BinaryOpType getOpType() const { return type_; }
  const Expr &getLHS() const { return *a_; }
  const Expr &getRHS() const { return *b_; }

  std::unique_ptr<Expr> clone() const override;
  std::string name() const override;
  bool deepEquals(const Expr &other) const override;

private:
  BinaryOpType type_;
  std::unique_ptr<Expr> a_;
  std::unique_ptr<Expr> b_;
};

// SELECT: arg2 ? arg0 : arg1. CLAMP: arg0 kept in [arg1, arg2].
class TernaryOp : public Expr {
public:
  TernaryOp(TernaryOpType type, const Expr &a, const Expr &b, const Expr &c)
      : type_(type), a_(a.clone()), b_(b.clone()), c_(c.clone()) {}
  TernaryOpType getOpType() const { return type_; }
  const Expr &getArg0() const { return *a_; }
  const Expr &getArg1() const { return *b_; }
  const Expr &getArg2() const { return *c_; }

  std::unique_ptr<Expr> clone() const override;
  std::string name() const override;
  bool deepEquals(const Expr &other) const override;

private:
  TernaryOpType type_;
  std::unique_ptr<Expr> a_;
  std::unique_ptr<Expr> b_;
  std::unique_ptr<Expr> c_;
};

// A class for each operator: Sqrt(_1), Add(_1, Const(2.0f)).
#define POPOPS_UNARY_CLASS(Class, ENUMERATOR)                                  \
  struct Class : UnaryOp {                                                     \
    explicit Class(const Expr &a) : UnaryOp(UnaryOpType::ENUMERATOR, a) {}     \
  };
#define POPOPS_UNARY(function, Class, ENUMERATOR)                              \
  POPOPS_UNARY_CLASS(Class, ENUMERATOR)
#define POPOPS_UNARY_TEST(function, Class, ENUMERATOR)                         \
  POPOPS_UNARY_CLASS(Class, ENUMERATOR)
#define POPOPS_BINARY(function, Class, ENUMERATOR)                             \
  struct Class : BinaryOp {                                                    \
    Class(const Expr &a, const Expr &b)                                        \
        : BinaryOp(BinaryOpType::ENUMERATOR, a, b) {}                          \
  };
#include <popops/ElementWiseOps.def>

struct Select : TernaryOp {
  Select(const Expr &a, const Expr &b, const Expr &c)
      : TernaryOp(TernaryOpType::SELECT, a, b, c) {}
};
struct Clamp : TernaryOp {
  Clamp(const Expr &a, const Expr &b, const Expr &c)
      : TernaryOp(TernaryOpType::CLAMP, a, b, c) {}
};

inline Not operator!(const Expr &a) {
  return Not(a);
}
inline BitwiseNot operator~(const Expr &a) {
  return BitwiseNot(a);
}
inline Neg operator-(const Expr &a) {
  return Neg(a);
}

// a + b and so on, a scalar on either side becoming a constant.
#define POPOPS_OPERATOR(symbol, Class)                                         \
  inline Class operator symbol(const Expr &a, const Expr &b) {                 \
    return Class(a, b);                                                        \
  }                                                                            \
  template <typename T>                                                        \
  typename std::enable_if<std::is_arithmetic<T>::value, Class>::type           \
  operator symbol(const Expr &a, T b) {                                        \
    return Class(a, Const(b));                                                 \
  }                                                                            \
  template <typename T>                                                        \
  typename std::enable_if<std::is_arithmetic<T>::value, Class>::type           \
  operator symbol(T a, const Expr &b) {                                        \
    return Class(Const(a), b);                                                 \
  }
POPOPS_OPERATOR(+, Add)
POPOPS_OPERATOR(-, Sub)
POPOPS_OPERATOR(*, Mul)
POPOPS_OPERATOR(/, Divide)
POPOPS_OPERATOR(%, Rem)
POPOPS_OPERATOR(&, BitwiseAnd)
POPOPS_OPERATOR(|, BitwiseOr)
POPOPS_OPERATOR(^, BitwiseXor)
POPOPS_OPERATOR(<<, Shl)
POPOPS_OPERATOR(>>, Shr)
POPOPS_OPERATOR(==, Equal)
POPOPS_OPERATOR(!=, NotEqual)
POPOPS_OPERATOR(>=, Gte)
POPOPS_OPERATOR(>, Gt)
POPOPS_OPERATOR(<=, Lte)
POPOPS_OPERATOR(<, Lt)
POPOPS_OPERATOR(&&, And)
POPOPS_OPERATOR(||, Or)
#undef POPOPS_OPERATOR

const PlaceHolder _1(1), _2(2), _3(3), _4(4), _5(5), _6(6), _7(7), _8(8), _9(9),
    _10(10), _11(11), _12(12), _13(13), _14(14), _15(15), _16(16), _17(17),
    _18(18), _19(19), _20(20);

} // namespace expr
} // namespace popops
