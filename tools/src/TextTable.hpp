// Lines of a table drawn with + - and |, every cell centred in its column.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tools {

// Of a text that is too long, the end stays, behind "...": addresses and names
// differ there.
std::string centred(std::string_view text, std::size_t width);

// The columns of some lines of a table; lines of other columns may follow.
class Columns {
public:
  explicit Columns(std::vector<std::size_t> widths)
      : widths_(std::move(widths)) {}

  std::string separator() const; // +-----+--+
  std::string row(const std::vector<std::string> &cells) const;
  std::size_t lineLength() const;

private:
  std::vector<std::size_t> widths_;
};

} // namespace tools
