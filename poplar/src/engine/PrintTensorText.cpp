#include "engine/PrintTensorText.hpp"

#include <support/Half.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace poplar::engine {
namespace {

using support::DataType;
using FloatFormat = PrintTensorFmt::FloatFormat;
using Texts = std::vector<std::string>;
using Positions = std::vector<std::int64_t>;

// Stands for the positions that a summary leaves out.
constexpr std::int64_t ellipsis = -1;

template <typename T> T valueAt(const std::byte *packed, std::int64_t index) {
  T value;
  std::memcpy(&value, packed + static_cast<std::size_t>(index) * sizeof(T),
              sizeof(T));
  return value;
}

template <typename Integer>
Texts integerTexts(const std::byte *packed, const Positions &positions) {
  Texts texts;
  for (std::int64_t position : positions) {
    // A char is a number here.
    texts.push_back(fmt::format("{}", +valueAt<Integer>(packed, position)));
  }
  return texts;
}

// How all numbers of a tensor are written, so that they line up.
struct FloatStyle {
  FloatFormat format = FloatFormat::None; // never Auto
  int decimals = 0;
};

// `digits` is all digits of a number but the exponent's. Auto writes exponents
// when the largest number has more digits than that before the point, or the
// smallest would lose half of them after it.
FloatStyle chooseStyle(const std::vector<float> &values,
                       const PrintTensorFmt &format) {
  const auto digits = static_cast<int>(format.digits());
  if (digits == 0 || format.floatFormat() == FloatFormat::None) {
    return {};
  }
  float largest = 0;
  float smallest = std::numeric_limits<float>::max(); // but not zero
  for (float value : values) {
    const float magnitude = std::abs(value);
    if (std::isfinite(value) && magnitude > 0) {
      largest = std::max(largest, magnitude);
      smallest = std::min(smallest, magnitude);
    }
  }
  const auto wholeDigits =
      static_cast<int>(fmt::format("{:.0f}", std::trunc(largest)).size());
  const bool isWide =
      wholeDigits > digits ||
      smallest < std::pow(10.0, -static_cast<double>(digits) / 2);
  if (format.floatFormat() == FloatFormat::Scientific ||
      (format.floatFormat() == FloatFormat::Auto && isWide)) {
    return {FloatFormat::Scientific, digits - 1};
  }
  return {FloatFormat::Fixed, std::max(digits - wholeDigits, 0)};
}

std::string floatText(float value, FloatStyle style) {
  if (std::isnan(value)) {
    return "nan"; // of either sign
  }
  switch (style.format) {
  case FloatFormat::Fixed:
    return fmt::format("{:.{}f}", value, style.decimals);
  case FloatFormat::Scientific:
    return fmt::format("{:.{}e}", value, style.decimals);
  case FloatFormat::Auto:
  case FloatFormat::None:
    break;
  }
  return fmt::format("{}", value); // the shortest that reads back the same
}

Texts floatTexts(const std::vector<float> &values,
                 const PrintTensorFmt &format) {
  const FloatStyle style = chooseStyle(values, format);
  Texts texts;
  for (float value : values) {
    texts.push_back(floatText(value, style));
  }
  return texts;
}

Texts elementTexts(DataType type, const std::byte *packed,
                   const Positions &positions, const PrintTensorFmt &format) {
  std::vector<float> values;
  switch (type) {
  case DataType::Bool:
  case DataType::UnsignedChar:
  case DataType::Quarter: // its bits: the scale is in another tensor
    return integerTexts<std::uint8_t>(packed, positions);
  case DataType::Char:
  case DataType::SignedChar:
    return integerTexts<std::int8_t>(packed, positions);
  case DataType::Short:
    return integerTexts<std::int16_t>(packed, positions);
  case DataType::UnsignedShort:
    return integerTexts<std::uint16_t>(packed, positions);
  case DataType::Int:
    return integerTexts<std::int32_t>(packed, positions);
  case DataType::UnsignedInt:
    return integerTexts<std::uint32_t>(packed, positions);
  case DataType::LongLong:
    return integerTexts<std::int64_t>(packed, positions);
  case DataType::UnsignedLongLong:
    return integerTexts<std::uint64_t>(packed, positions);
  case DataType::Half:
    for (std::int64_t position : positions) {
      values.push_back(
          support::halfBitsToFloat(valueAt<std::uint16_t>(packed, position)));
    }
    return floatTexts(values, format);
  case DataType::Float:
    for (std::int64_t position : positions) {
      values.push_back(valueAt<float>(packed, position));
    }
    return floatTexts(values, format);
  }
  return {};
}

// Writes the elements that are shown, in brackets by dimension.
class TensorText {
public:
  TensorText(DataType type, const support::Shape &shape,
             const std::byte *packed, const PrintTensorFmt &format)
      : shape_(shape), strides_(support::rowMajorStrides(shape)),
        format_(format) {
    const std::int64_t elements = support::elementCount(shape);
    isSummarised_ = format.isFormatted() && format.summariseThreshold() > 0 &&
                    elements > std::int64_t{format.summariseThreshold()};
    Positions positions;
    collect(0, 0, positions);
    texts_ = elementTexts(type, packed, positions,
                          format.isFormatted() ? format : unformatted());
    align();
  }

  // `text` is what the first line starts with.
  std::string appendTo(std::string text) {
    text_ = std::move(text);
    if (!format_.isFormatted()) {
      addLine();
    } else if (shape_.empty()) {
      text_ += texts_.front();
    } else {
      addDimension(0);
    }
    return std::move(text_);
  }

private:
  static PrintTensorFmt unformatted() {
    return PrintTensorFmt(0, 0, 0, 0, FloatFormat::None);
  }

  // The indices of a dimension that are shown.
  Positions shownOf(std::size_t dim) const {
    const std::int64_t extent = shape_[dim];
    const std::int64_t edge = format_.edgeItems();
    Positions shown;
    for (std::int64_t i = 0; i < extent; ++i) {
      if (!isSummarised_ || i < edge || i >= extent - edge) {
        shown.push_back(i);
      } else if (i == edge) {
        shown.push_back(ellipsis);
      }
    }
    return shown;
  }

  void collect(std::size_t dim, std::int64_t offset,
               Positions &positions) const {
    if (dim == shape_.size()) {
      positions.push_back(offset);
      return;
    }
    for (std::int64_t index : shownOf(dim)) {
      if (index != ellipsis) {
        collect(dim + 1, offset + index * strides_[dim], positions);
      }
    }
  }

  // Pads all elements to one width, unless digits are not to be looked at.
  void align() {
    if (!format_.isFormatted() || format_.digits() == 0) {
      return;
    }
    std::size_t width = 0;
    for (const std::string &text : texts_) {
      width = std::max(width, text.size());
    }
    for (std::string &text : texts_) {
      text.insert(0, width - text.size(), ' ');
    }
  }

  void addLine() {
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      text_ += i == 0 ? "" : std::string(1, format_.separator());
      text_ += texts_[i];
    }
  }

  void addDimension(std::size_t dim) {
    if (dim + 1 == shape_.size() || shape_[dim] == 0) {
      addRow(dim);
      return;
    }
    const Positions shown = shownOf(dim);
    text_ += format_.openBracket();
    for (std::size_t i = 0; i < shown.size(); ++i) {
      text_ += '\n' + std::string(2 * (dim + 1), ' ');
      if (shown[i] == ellipsis) {
        text_ += "...";
        continue;
      }
      addDimension(dim + 1);
      if (i + 1 < shown.size() && format_.separator() != ' ') {
        text_ += format_.separator();
      }
    }
    text_ += '\n' + std::string(2 * dim, ' ') + format_.closeBracket();
  }

  // The innermost dimension: goes on in a new line, below the first element,
  // before it gets too wide.
  void addRow(std::size_t dim) {
    text_ += format_.openBracket();
    const std::size_t lineStart = text_.rfind('\n') + 1; // 0 in the first line
    const std::size_t indent = text_.size() - lineStart;
    std::size_t column = indent;
    bool isFirst = true;
    for (std::int64_t index : shownOf(dim)) {
      const std::string &word =
          index == ellipsis ? ellipsisText : texts_[next_++];
      // One more column for the separator or bracket behind it.
      const std::size_t end = column + (isFirst ? 0 : 1) + word.size() + 1;
      const bool isWrapped = !isFirst && format_.maxLineWidth() > 0 &&
                             end > format_.maxLineWidth();
      if (isWrapped) {
        if (format_.separator() != ' ') {
          text_ += format_.separator();
        }
        text_ += '\n' + std::string(indent, ' ');
        column = indent;
      } else if (!isFirst) {
        text_ += format_.separator();
        ++column;
      }
      text_ += word;
      column += word.size();
      isFirst = false;
    }
    text_ += format_.closeBracket();
  }

  inline static const std::string ellipsisText = "...";

  const support::Shape &shape_;
  support::Strides strides_;
  const PrintTensorFmt &format_;
  bool isSummarised_ = false;
  Texts texts_;          // of the elements shown, in order
  std::size_t next_ = 0; // in texts_
  std::string text_;
};

} // namespace

std::string formatTensor(const std::string &title, DataType type,
                         const support::Shape &shape, const std::byte *packed,
                         const PrintTensorFmt &format) {
  return TensorText(type, shape, packed, format)
      .appendTo(title.empty() ? "" : title + ": ");
}

} // namespace poplar::engine
