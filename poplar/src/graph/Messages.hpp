// Parts of error messages that are put into words only when an error is thrown:
// views are made by the million, and checked each time.
#pragma once

#include <poplar/internal/Access.hpp>
#include <support/Shape.hpp>

#include <fmt/format.h>

namespace poplar::internal {

// "{2,3}".
struct ShapeText {
  const support::Shape &shape;
};

// The debug path of a tensor's first variable.
struct PathText {
  const TensorData &data;
};

} // namespace poplar::internal

template <>
struct fmt::formatter<poplar::internal::ShapeText> : formatter<std::string> {
  auto format(const poplar::internal::ShapeText &text,
              format_context &context) const {
    return formatter<std::string>::format(support::toString(text.shape),
                                          context);
  }
};

template <>
struct fmt::formatter<poplar::internal::PathText> : formatter<std::string> {
  auto format(const poplar::internal::PathText &text,
              format_context &context) const {
    const auto &pieces = text.data.view.pieces;
    return formatter<std::string>::format(
        pieces.empty() ? "" : (*text.data.graph)[pieces[0].variable].debugPath,
        context);
  }
};
