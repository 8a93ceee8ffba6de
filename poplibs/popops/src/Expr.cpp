#include <popops/Expr.hpp>

#include <ostream>
#include <sstream>

namespace popops {
namespace expr {

namespace {

// `other` as T, if both are of the same class.
template <typename T> const T *sameClass(const T &, const Expr &other) {
  return dynamic_cast<const T *>(&other);
}

} // namespace

const char *toString(UnaryOpType op) {
  switch (op) {
#define POPOPS_UNARY_CLASS(Class, ENUMERATOR)                                  \
  case UnaryOpType::ENUMERATOR:                                                \
    return #ENUMERATOR;
#define POPOPS_UNARY(function, Class, ENUMERATOR)                              \
  POPOPS_UNARY_CLASS(Class, ENUMERATOR)
#define POPOPS_UNARY_TEST(function, Class, ENUMERATOR)                         \
  POPOPS_UNARY_CLASS(Class, ENUMERATOR)
#include <popops/ElementWiseOps.def>
  }
  return "";
}

const char *toString(BinaryOpType op) {
  switch (op) {
#define POPOPS_BINARY(function, Class, ENUMERATOR)                             \
  case BinaryOpType::ENUMERATOR:                                               \
    return #ENUMERATOR;
#include <popops/ElementWiseOps.def>
  }
  return "";
}

const char *toString(TernaryOpType op) {
  return op == TernaryOpType::CLAMP ? "CLAMP" : "SELECT";
}

void Expr::print(std::ostream &stream) const {
  stream << name();
}

std::unique_ptr<Expr> Const::clone() const {
  return std::make_unique<Const>(*this);
}
std::string Const::name() const {
  std::ostringstream text;
  text << "Const_" << value_;
  return text.str();
}
bool Const::deepEquals(const Expr &other) const {
  const auto *same = sameClass(*this, other);
  return same != nullptr && same->type_ == type_ && same->value_ == value_ &&
         same->integer_ == integer_;
}

std::unique_ptr<Expr> ConstHalf::clone() const {
  return std::make_unique<ConstHalf>(*this);
}

std::unique_ptr<Expr> PlaceHolder::clone() const {
  return std::make_unique<PlaceHolder>(*this);
}
std::string PlaceHolder::name() const {
  return "_" + std::to_string(index_);
}
bool PlaceHolder::deepEquals(const Expr &other) const {
  const auto *same = sameClass(*this, other);
  return same != nullptr && same->index_ == index_;
}

std::unique_ptr<Expr> Cast::clone() const {
  return std::make_unique<Cast>(*operand_, type_);
}
std::string Cast::name() const {
  return "Cast_" + operand_->name() + "_" + std::string(type_.toString());
}
bool Cast::deepEquals(const Expr &other) const {
  const auto *same = sameClass(*this, other);
  return same != nullptr && same->type_ == type_ &&
         operand_->deepEquals(*same->operand_);
}

std::unique_ptr<Expr> UnaryOp::clone() const {
  return std::make_unique<UnaryOp>(type_, *a_);
}
std::string UnaryOp::name() const {
  return std::string(toString(type_)) + "_" + a_->name();
}
bool UnaryOp::deepEquals(const Expr &other) const {
  const auto *same = sameClass(*this, other);
  return same != nullptr && same->type_ == type_ && a_->deepEquals(*same->a_);
}

std::unique_ptr<Expr> BinaryOp::clone() const {
  return std::make_unique<BinaryOp>(type_, *a_, *b_);
}
std::string BinaryOp::name() const {
  return std::string(toString(type_)) + "_" + a_->name() + "_" + b_->name();
}
bool BinaryOp::deepEquals(const Expr &other) const {
  const auto *same = sameClass(*this, other);
  return same != nullptr && same->type_ == type_ && a_->deepEquals(*same->a_) &&
         b_->deepEquals(*same->b_);
}

std::unique_ptr<Expr> TernaryOp::clone() const {
  return std::make_unique<TernaryOp>(type_, *a_, *b_, *c_);
}
std::string TernaryOp::name() const {
  return std::string(toString(type_)) + "_" + a_->name() + "_" + b_->name() +
         "_" + c_->name();
}
bool TernaryOp::deepEquals(const Expr &other) const {
  const auto *same = sameClass(*this, other);
  return same != nullptr && same->type_ == type_ && a_->deepEquals(*same->a_) &&
         b_->deepEquals(*same->b_) && c_->deepEquals(*same->c_);
}

} // namespace expr
} // namespace popops
