// Reads the numbers of a profile summary back from its text.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace poplar::testing {

class ProfileTextReader {
public:
  explicit ProfileTextReader(const std::string &text) {
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      lines_.push_back(std::move(line));
    }
  }

  // The line that starts with `title` and the lines below it that are indented
  // more.
  ProfileTextReader block(std::string_view title) const {
    ProfileTextReader result;
    for (const std::string &line : lines_) {
      if (!result.lines_.empty()) {
        if (indentOf(line) <= indentOf(result.lines_.front())) {
          break;
        }
        result.lines_.push_back(line);
      } else if (line.starts_with(title)) {
        result.lines_.push_back(line);
      }
    }
    EXPECT_FALSE(result.lines_.empty()) << "no line '" << title << "'";
    return result;
  }

  // The first number after a label.
  std::uint64_t number(std::string_view label) const {
    const auto numbers = numbersOf(after(label));
    EXPECT_FALSE(numbers.empty()) << "no number after '" << label << "'";
    return numbers.empty() ? 0 : numbers.front();
  }
  double decimal(std::string_view label) const {
    std::string text = after(label);
    std::erase(text, ',');
    return text.empty() ? -1 : std::stod(text);
  }
  // As in "Vertex Data (14,640B):".
  std::uint64_t numberInTitle() const {
    return numbersOf(lines_.front()).back();
  }

  // The last numbers of the lines of a part, added up.
  std::uint64_t sum(std::string_view part) const {
    for (const std::string &line : lines_) {
      if (line.substr(indentOf(line)) == part) {
        return block(line).sumOfLines();
      }
    }
    ADD_FAILURE() << "no part '" << part << "'";
    return 0;
  }
  std::uint64_t sumOfLines() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 1; i < lines_.size(); ++i) {
      sum += numbersOf(lines_[i]).back();
    }
    return sum;
  }

  // Tiles in all rows of the histogram.
  std::uint64_t histogramCount() const {
    std::uint64_t count = 0;
    for (const std::string &line :
         block("  By Tile (Excluding Gaps):").lines_) {
      static const std::regex row(R"( *[0-9,]+ - [0-9,]+ [* ]* ([0-9,]+))");
      if (std::regex_match(line, row)) {
        count += numbersOf(line).back();
      }
    }
    return count;
  }

  // The numbers of each row of "By IPU", the percentage left out.
  std::vector<std::vector<std::uint64_t>> ipuRows() const {
    std::vector<std::vector<std::uint64_t>> rows;
    bool isTable = false;
    for (const std::string &line : lines_) {
      if (isTable && line.empty()) {
        break;
      }
      if (isTable && !line.starts_with("    IPU ")) {
        static const std::regex share(R"(\([0-9.]+%\))");
        rows.push_back(numbersOf(std::regex_replace(line, share, "")));
      }
      isTable |= line == "  By IPU:";
    }
    return rows;
  }

  // The cycles of the steps, each as often as the loops around it run.
  std::uint64_t stepCycles() const {
    std::vector<std::pair<std::size_t, std::uint64_t>> loops; // indent, times
    std::uint64_t sum = 0;
    bool isStep = false;
    for (const std::string &line : lines_) {
      isStep |= line == "  Sequence"; // the tree's root
      if (!isStep) {
        continue;
      }
      while (!loops.empty() && indentOf(line) <= loops.back().first) {
        loops.pop_back();
      }
      const std::string text = line.substr(indentOf(line));
      const std::uint64_t times = loops.empty() ? 1 : loops.back().second;
      if (text.starts_with("Repeat: ")) {
        loops.emplace_back(indentOf(line), times * numbersOf(text).front());
      } else if (text.starts_with("Cycles:")) {
        sum += times * numbersOf(text).front();
      }
    }
    return sum;
  }

private:
  ProfileTextReader() = default;

  static std::size_t indentOf(const std::string &line) {
    return std::min(line.find_first_not_of(' '), line.size());
  }

  std::string after(std::string_view label) const {
    for (const std::string &line : lines_) {
      const std::size_t at = line.find(label);
      if (at != std::string::npos) {
        return line.substr(at + label.size());
      }
    }
    ADD_FAILURE() << "no line with '" << label << "'";
    return "";
  }

  static std::vector<std::uint64_t> numbersOf(const std::string &text) {
    std::vector<std::uint64_t> numbers;
    for (std::size_t at = 0; at < text.size();) {
      if (text[at] < '0' || text[at] > '9') {
        ++at;
        continue;
      }
      std::uint64_t number = 0;
      for (; at < text.size() &&
             ((text[at] >= '0' && text[at] <= '9') || text[at] == ',');
           ++at) {
        if (text[at] != ',') {
          number = 10 * number + static_cast<std::uint64_t>(text[at] - '0');
        }
      }
      numbers.push_back(number);
    }
    return numbers;
  }

  std::vector<std::string> lines_;
};

} // namespace poplar::testing
