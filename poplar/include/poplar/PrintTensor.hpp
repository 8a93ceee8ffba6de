// How PrintTensor writes a tensor.
#pragma once

namespace poplar {

class PrintTensorFmt {
public:
  enum class FloatFormat { Auto, Fixed, Scientific, None };

  // Tensors of more than `summariseThreshold` elements show only `edgeItems` at
  // each end of a dimension.
  PrintTensorFmt(unsigned summariseThreshold = 1000, unsigned edgeItems = 3,
                 unsigned maxLineWidth = 75, unsigned digits = 8,
                 FloatFormat floatFormat = FloatFormat::Auto,
                 char separator = ' ', char openBracket = '[',
                 char closeBracket = ']')
      : summariseThreshold_(summariseThreshold), edgeItems_(edgeItems),
        maxLineWidth_(maxLineWidth), digits_(digits), floatFormat_(floatFormat),
        separator_(separator), openBracket_(openBracket),
        closeBracket_(closeBracket) {}

  // Every element, on one line, without brackets.
  static PrintTensorFmt disableFormatting() {
    PrintTensorFmt format;
    format.isFormatted_ = false;
    return format;
  }

  unsigned summariseThreshold() const { return summariseThreshold_; }
  unsigned edgeItems() const { return edgeItems_; }
  unsigned maxLineWidth() const { return maxLineWidth_; }
  unsigned digits() const { return digits_; }
  FloatFormat floatFormat() const { return floatFormat_; }
  char separator() const { return separator_; }
  char openBracket() const { return openBracket_; }
  char closeBracket() const { return closeBracket_; }
  bool isFormatted() const { return isFormatted_; }

private:
  unsigned summariseThreshold_;
  unsigned edgeItems_;
  unsigned maxLineWidth_;
  unsigned digits_;
  FloatFormat floatFormat_;
  char separator_;
  char openBracket_;
  char closeBracket_;
  bool isFormatted_ = true;
};

} // namespace poplar
