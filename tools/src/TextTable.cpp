#include "TextTable.hpp"

#include <support/Error.hpp>

#include <numeric>

namespace tools {
namespace {

std::string fitted(std::string_view text, std::size_t width) {
  constexpr std::string_view mark = "...";
  if (text.size() <= width) {
    return std::string(text);
  }
  return std::string(mark) +
         std::string(text.substr(text.size() - (width - mark.size())));
}

} // namespace

std::string centred(std::string_view text, std::size_t width) {
  const std::string shown = fitted(text, width);
  const std::size_t left = (width - shown.size()) / 2;
  return std::string(left, ' ') + shown +
         std::string(width - shown.size() - left, ' ');
}

std::string Columns::separator() const {
  std::string line = "+";
  for (std::size_t width : widths_) {
    line += std::string(width, '-') + '+';
  }
  return line + '\n';
}

std::string Columns::row(const std::vector<std::string> &cells) const {
  support::requireInternal(cells.size() == widths_.size(),
                           "[tools] {} cells for {} columns", cells.size(),
                           widths_.size());
  std::string line = "|";
  for (std::size_t column = 0; column < cells.size(); ++column) {
    line += centred(cells[column], widths_[column]) + '|';
  }
  return line + '\n';
}

std::size_t Columns::lineLength() const {
  return std::accumulate(widths_.begin(), widths_.end(), widths_.size() + 1);
}

} // namespace tools
