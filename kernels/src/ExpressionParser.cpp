// Infix text to postfix code, by recursive descent over
//   comparison: sum [('<'|'<='|'>'|'>='|'=='|'!=') sum]
//   sum:        product {('+'|'-') product}
//   product:    unary {('*'|'/') unary}
//   unary:      '-' unary | number | name | name '(' comparison, ... ')'
//               | '(' comparison ')'
#include <kernels/Expression.hpp>

#include <support/Error.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <stdexcept>

namespace kernels {

namespace {

using enum ElementwiseOp;

// The short names that popops gives its functions.
constexpr std::pair<std::string_view, ElementwiseOp> shortNames[] = {
    {"abs", ABSOLUTE}, {"exp", EXPONENT}, {"log", LOGARITHM},
    {"max", MAXIMUM},  {"min", MINIMUM},  {"pow", POWER},
};

constexpr std::pair<std::string_view, ElementwiseOp> comparisons[] = {
    {"<=", LESS_THAN_EQUAL}, {">=", GREATER_THAN_EQUAL}, {"==", EQUAL},
    {"!=", NOT_EQUAL},       {"<", LESS_THAN},           {">", GREATER_THAN},
};

class Parser {
public:
  Parser(std::string_view text, std::span<const std::string_view> names)
      : text_(text), names_(names) {}

  Expression parse() {
    Expression result = comparison();
    skipSpace();
    require(position_ == text_.size(), "expected an operator or the end");
    return result;
  }

private:
  Expression comparison() {
    Expression left = sum();
    skipSpace();
    for (const auto &[symbol, op] : comparisons) {
      if (text_.substr(position_).starts_with(symbol)) {
        position_ += symbol.size();
        return Expression::apply(op, {std::move(left), sum()});
      }
    }
    return left;
  }

  Expression sum() {
    Expression left = product();
    while (true) {
      if (accept('+')) {
        left = Expression::apply(ADD, {std::move(left), product()});
      } else if (accept('-')) {
        left = Expression::apply(SUBTRACT, {std::move(left), product()});
      } else {
        return left;
      }
    }
  }

  Expression product() {
    Expression left = unary();
    while (true) {
      if (accept('*')) {
        left = Expression::apply(MULTIPLY, {std::move(left), unary()});
      } else if (accept('/')) {
        left = Expression::apply(DIVIDE, {std::move(left), unary()});
      } else {
        return left;
      }
    }
  }

  Expression unary() {
    if (accept('-')) {
      Expression operand = unary();
      const auto &first = operand.steps().front();
      if (first.kind == ExpressionStep::Kind::Constant &&
          operand.steps().size() == 1) {
        return Expression::constant(-first.constant);
      }
      return Expression::apply(NEGATE, {std::move(operand)});
    }
    if (accept('(')) {
      Expression inner = comparison();
      require(accept(')'), "expected ')'");
      return inner;
    }
    require(position_ < text_.size(), "expected a value");
    if (std::isdigit(static_cast<unsigned char>(text_[position_])) ||
        text_[position_] == '.') {
      return number();
    }
    return nameOrCall();
  }

  Expression number() {
    const std::string rest(text_.substr(position_));
    char *end = nullptr;
    const double value = std::strtod(rest.c_str(), &end);
    require(end != rest.c_str(), "expected a number");
    position_ += static_cast<std::size_t>(end - rest.c_str());
    return Expression::constant(value);
  }

  Expression nameOrCall() {
    const std::size_t start = position_;
    while (position_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[position_])) ||
            text_[position_] == '_')) {
      ++position_;
    }
    const std::string_view name = text_.substr(start, position_ - start);
    const auto input = std::find(names_.begin(), names_.end(), name);
    if (input != names_.end()) {
      return Expression::input(static_cast<unsigned>(input - names_.begin()));
    }
    const ElementwiseOpInfo *info = findFunction(name);
    if (info == nullptr) {
      position_ = start;
      require(false, name.empty() ? "expected a value" : "unknown name");
    }
    require(accept('('), "expected '('");
    std::vector<Expression> operands;
    do {
      operands.push_back(comparison());
    } while (accept(','));
    require(operands.size() == info->arity, "wrong number of operands");
    require(accept(')'), "expected ')'");
    return Expression::apply(info->op, std::move(operands));
  }

  static const ElementwiseOpInfo *findFunction(std::string_view name) {
    for (const auto &[shortName, op] : shortNames) {
      if (shortName == name) {
        return &elementwiseOpInfo(op);
      }
    }
    std::string upper(name);
    for (char &c : upper) {
      if (std::isupper(static_cast<unsigned char>(c))) {
        return nullptr;
      }
      c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    return findElementwiseOp(upper);
  }

  void skipSpace() {
    while (position_ < text_.size() && text_[position_] == ' ') {
      ++position_;
    }
  }
  bool accept(char symbol) {
    skipSpace();
    if (position_ < text_.size() && text_[position_] == symbol) {
      ++position_;
      skipSpace();
      return true;
    }
    return false;
  }
  void require(bool condition, const char *problem) const {
    support::requireUser<std::invalid_argument>(
        condition, "[Expression::parse] {} at character {} of \"{}\"", problem,
        position_, text_);
  }

  std::string_view text_;
  std::span<const std::string_view> names_;
  std::size_t position_ = 0;
};

} // namespace

Expression Expression::parse(std::string_view text,
                             std::span<const std::string_view> names) {
  return Parser(text, names).parse();
}

} // namespace kernels
