#include <kernels/cost/Elementwise.hpp>

#include <array>
#include <charconv>
#include <span>

namespace kernels::cost {

namespace {

// The letters that may price a type, best first.
std::array<std::string_view, 2> costLetters(DataType type) {
  switch (type) {
  case DataType::Float:
    return {"F", ""};
  case DataType::Half:
  case DataType::Quarter:
    return {"H", ""};
  case DataType::Int:
    return {"I", ""};
  case DataType::UnsignedInt:
    return {"U", "I"};
  case DataType::LongLong:
    return {"LL", ""};
  case DataType::UnsignedLongLong:
    return {"ULL", "LL"};
  case DataType::Short:
    return {"S", ""};
  case DataType::UnsignedShort:
    return {"US", "S"};
  case DataType::Bool:
  case DataType::Char:
  case DataType::SignedChar:
  case DataType::UnsignedChar:
    return {"B", ""};
  }
  return {};
}

// Takes the text up to `separator` off the front of `text`.
std::string_view takeUntil(std::string_view &text, char separator) {
  const auto end = std::min(text.find(separator), text.size());
  const auto head = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return head;
}

// "12/2" or "6/4~".
LoopCost parseFigure(std::string_view text) {
  LoopCost cost;
  const char *const end = text.data() + text.size();
  const char *at = std::from_chars(text.data(), end, cost.cycles).ptr;
  at = std::from_chars(std::min(at + 1, end), end, cost.elements).ptr;
  cost.isProportional = at != end && *at == '~';
  return cost;
}

// Loops of the scalar broadcasts that differ from 8.2, from section 8.3.
struct NamedCost {
  std::string_view name;
  std::string_view cost;
};
constexpr NamedCost scalarBroadcastCosts[] = {
    {"ADD", "F2/2 H2/4 I6/1"},
    {"SUBTRACT", "F2/2 H2/4 I6/1"},
    {"MULTIPLY", "F2/2 H2/4 I6/1"},
    {"DIVIDE", "F6/2 H8/2 I277/1 U260/1"},
    {"MAXIMUM", "F3/2 H3/4 I6/1"},
    {"MINIMUM", "F3/2 H3/4 I6/1"},
    {"POWER", "F312/1 H325/1 I23/1"},
    {"REMAINDER", "F93/2 H225/4"},
    {"EQUAL", "F12/4 H8/4 I16/4"},
    {"GREATER_THAN", "F12/4 H8/4 I16/4"},
    {"LESS_THAN", "F12/4 H8/4 I16/4"},
    {"GREATER_THAN_EQUAL", "F12/4 H8/4 I20/4"},
    {"LESS_THAN_EQUAL", "F12/4 H8/4 I20/4"},
    {"NOT_EQUAL", "F18/4 H10/4"},
    {"INV_STD_DEV_TO_VARIANCE", "F11/2 H10/2"},
    {"VARIANCE_TO_INV_STD_DEV", "F12/2 H24/4"},
};

// Cycles for the elements left over after whole vectors of `width`.
Cycles castRemainder(std::uint64_t left, std::uint64_t width) {
  Cycles cycles = 0;
  for (auto bit = width / 2; bit > 0; bit /= 2) {
    cycles += (left & bit) != 0 ? 3 : 1;
  }
  return cycles;
}

bool isFloatOrHalf(DataType type) {
  return type == DataType::Float || type == DataType::Half;
}

} // namespace

std::optional<LoopCost> parseLoopCost(std::string_view text, DataType type,
                                      bool inPlace) {
  for (const auto letters : costLetters(type)) {
    if (letters.empty()) {
      continue;
    }
    for (auto rest = text; !rest.empty();) {
      auto entry = takeUntil(rest, ' ');
      const auto digits =
          std::min(entry.find_first_of("0123456789"), entry.size());
      if (entry.substr(0, digits) != letters) {
        continue;
      }
      entry.remove_prefix(digits);
      const auto outOfPlace = takeUntil(entry, '>');
      return parseFigure(inPlace && !entry.empty() ? entry : outOfPlace);
    }
  }
  return std::nullopt;
}

LoopCost loopCost(const ElementwiseOpInfo &op, DataType type, bool inPlace) {
  return parseLoopCost(op.cost, type, inPlace).value_or(LoopCost{});
}

Cycles unaryOp1D(const TileSpec &tile, const ElementwiseOpInfo &op,
                 DataType type, std::uint64_t n, bool inPlace) {
  const Cycles overhead = inPlace ? 55 : op.name == "EXPONENT" ? 33 : 17;
  return supervisorOverhead + 9 +
         tile.workers *
             (overhead + loopCost(op, type, inPlace).of(perWorker(tile, n)));
}

Cycles binaryOp1D(const TileSpec &tile, const ElementwiseOpInfo &op,
                  DataType type, std::uint64_t n, bool inPlace) {
  const Cycles overhead = inPlace ? 58 : type == DataType::Float ? 29 : 26;
  return supervisorOverhead +
         tile.workers *
             (overhead + loopCost(op, type, inPlace).of(perWorker(tile, n)));
}

Cycles broadcastScalar1D(const TileSpec &tile, const ElementwiseOpInfo &op,
                         DataType type, std::uint64_t n) {
  auto loop = loopCost(op, type, false);
  for (const auto &row : scalarBroadcastCosts) {
    if (row.name == op.name) {
      loop = parseLoopCost(row.cost, type, false).value_or(loop);
    }
  }
  return supervisorOverhead + tile.workers * (20 + loop.of(perWorker(tile, n)));
}

Cycles vectorOuterByRow(const TileSpec &tile, DataType type, std::uint64_t rows,
                        std::uint64_t columns) {
  constexpr Cycles alignedRow = 7;
  const auto vectors = ceilDiv(columns, vectorWidth(tile, type));
  return tile.workers *
             (15 + perWorker(tile, rows) * (alignedRow + vectors * 2)) +
         supervisorOverhead;
}

Cycles vectorInnerAdd(const TileSpec &tile, DataType type, std::uint64_t length,
                      std::uint64_t repeats) {
  const bool isHalf = type == DataType::Half;
  const auto blocks = perWorker(tile, repeats);
  Cycles core = 7 + length * (8 + 2 * blocks);
  if (isHalf) {
    if (length <= 2048 && length % 8 == 0) {
      core = blocks <= 1 ? 11 + 7 * length / 8
                         : 12 + length / 8 * (15 + 2 * (blocks - 1));
    } else if (length % 4 == 0 && blocks >= 2) {
      core = 15 + length / 4 * (13 + 2 * (blocks / 2 - 1) + blocks % 2);
    } else {
      core = (length > 2048 ? 9
              : blocks == 1 ? 13
                            : 15) +
             length * (5 + 9 * blocks);
    }
  }
  const Cycles base = (isHalf ? 19 : 17) + (length % 2 != 0 ? 7 : 0);
  return 13 + tile.workers * (base + core) + 6 + 18;
}

Cycles ternaryOp2D(const TileSpec &tile, DataType type, std::uint64_t n,
                   bool isClamp) {
  const auto share = perWorker(tile, n);
  const bool isVector = isClamp && isFloatOrHalf(type);
  const Cycles loop = isVector  ? 2 * ceilDiv(share, vectorWidth(tile, type))
                      : isClamp ? 7 * share
                                : 5 * share;
  return tile.workers * (5 + 6 + loop);
}

Cycles mapFused(const TileSpec &tile, const Expression &expression,
                DataType type, std::uint64_t n) {
  const auto share = perWorker(tile, n);
  // Each input is loaded and the result stored once a vector.
  const auto vectors = ceilDiv(share, vectorWidth(tile, type));
  Cycles loop = vectors * (expression.inputCount() + 1);
  for (const auto &step : expression.steps()) {
    if (step.kind == ExpressionStep::Kind::Operator) {
      const auto &op =
          elementwiseOpInfo(static_cast<ElementwiseOp>(step.index));
      const auto cost = loopCost(op, type, false).of(share);
      // The operator's own figure includes a load and a store a vector.
      loop += cost - std::min(cost - 1, 2 * vectors);
    } else if (step.kind == ExpressionStep::Kind::Cast) {
      loop += vectors;
    }
  }
  return supervisorOverhead + tile.workers * (29 + loop);
}

Cycles cast1D(const TileSpec &tile, DataType from, DataType to,
              std::uint64_t n) {
  const auto share = perWorker(tile, n);
  Cycles worker = 19 + 2 * share; // a compiled pair of types
  if (isFloatOrHalf(from) && isFloatOrHalf(to)) {
    const auto load = vectorWidth(tile, from);
    const auto store = vectorWidth(tile, to);
    const auto vector = std::min(2 * load, store);
    const auto cycles = std::max(vector / load, vector / store);
    worker =
        19 + share / vector * cycles + castRemainder(share % vector, vector);
  }
  return 12 + tile.workers * (18 + worker);
}

Cycles fill(const TileSpec &, DataType type, std::uint64_t n) {
  switch (support::sizeOf(type)) {
  case 1:
    return n < 64 ? 28 + n / 4 : 39 + n / 8;
  case 2:
    return n == 1 ? 15 : n == 2 ? 21 : 26 + n / 4;
  case 4:
    return 23 + n / 2 + n % 2;
  default:
    return 5 + n;
  }
}

Cycles scaledAdd(const TileSpec &tile, DataType type, DataType scaledType,
                 std::uint64_t n, bool isSubtract, bool scalesBoth) {
  if (!isFloatOrHalf(type)) {
    return 53 + 26 * (n / 3) + 6 + 26 * (n % 3) + 14;
  }
  const auto width = vectorWidth(tile, type);
  const auto vectors = n / width;
  const auto share = vectors / tile.workers;
  const bool hasRemainder = vectors % tile.workers != 0;
  const Cycles supervisor = 21 + supervisorOverhead + (hasRemainder ? 13 : 7) +
                            12 + 6 + (isSubtract ? 7 : 0) +
                            (scalesBoth ? 12 : 0);
  const Cycles perVector = type == scaledType ? 3 : 4;
  Cycles loop = share > 0 ? 6 + perVector * (share - 1) : 0;
  if (type == DataType::Half && scaledType == DataType::Float) {
    loop = 16 + 9 + (share > 0 ? 5 * (share - 1) : 0);
  }
  const Cycles tail = n % width == 0 ? 0 : type == DataType::Float ? 8 : 18;
  return supervisor + tile.workers * (15 + loop + 3 + tail + 1);
}

} // namespace kernels::cost
