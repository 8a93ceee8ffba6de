// What the bits of QUARTER elements mean: 8-bit floats of one of two formats,
// times a power of two that they share.
#pragma once

namespace poplar {

struct QuarterMetadata {
  // Sign, exponent and mantissa bits: F143 reaches 240, F152 57344. Both have
  // one NaN and no infinities.
  enum class Format { F143, F152 };

  QuarterMetadata() = default;
  QuarterMetadata(Format f, signed char s) : format(f), scale(s) {}

  Format format = Format::F143;
  signed char scale = 0; // values are multiplied by 2^scale

  friend bool operator==(const QuarterMetadata &a, const QuarterMetadata &b) {
    return a.format == b.format && a.scale == b.scale;
  }
  friend bool operator!=(const QuarterMetadata &a, const QuarterMetadata &b) {
    return !(a == b);
  }
};

} // namespace poplar
