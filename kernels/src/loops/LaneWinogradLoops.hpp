// Winograd's method F(4, 5) along the rows of images with sixteen samples in
// the lanes: part of the table of Loops.hpp. Strips of 8 columns of pixels that
// overlap by 4 give strips of 4 columns of results, by 8 products in place of
// 20: one for each place in a row of a strip. The rows of the kernel are summed
// as they are.
#pragma once

#include <cstdint>

namespace kernels {

struct LaneWinogradLoops {
  // Rows [rowBegin, rowEnd) of some columns, from `column` on, of the channels
  // of one image. Pixels beyond the image are zeros, results beyond it are
  // dropped.
  struct Strip {
    std::int64_t channels, rows, columns; // of the image
    std::int64_t rowBegin, rowEnd;
    std::int64_t column;
  };
  // A strip's factors or products: place by place, `place` floats apart, and
  // in each channel by channel, `channel` floats apart, the rows.
  struct Places {
    float *data;
    std::int64_t place, channel;
  };
  // Places are made two at a time: which of the pairs are wanted.
  struct Pairs {
    std::int64_t begin, end;
  };

  // Eight columns of pixels as factors, and four columns of the results'
  // gradients as the other factors of the weights' gradient.
  void (*pixels)(const Strip &strip, Pairs pairs, const float *x,
                 const Places &to);
  void (*gradients)(const Strip &strip, Pairs pairs, const float *dy,
                    const Places &to);
  // All places' products to four columns of results. A bias may be null.
  void (*results)(const Strip &strip, const Places &from, const float *bias,
                  bool hasRelu, std::int64_t lanes, float *y);
  // Of products of gradients to eight columns of the pixels' gradients; what
  // the first four are added to was made by the strip before, if any.
  void (*pixelGradients)(const Strip &strip, const Places &from, bool isFirst,
                         std::int64_t lanes, float *dx);

  // One place's products of x [ins, rows] with weights [outs, ins, 5] to
  // y [outs, rows]; images of pixels have 4 rows more than those of results.
  struct Product {
    std::int64_t ins, outs;
    std::int64_t rows; // of the results or their gradients
    std::int64_t lanes;
  };
  // y[r] = the sum of x[r + p] * w[p].
  void (*gather)(const Product &product, const float *x, const float *w,
                 float *y);
  // y[r + p] = the sum of x[r] * w[p].
  void (*scatter)(const Product &product, const float *x, const float *w,
                  float *y);

  // Weights [rows, columns, 5, 5], whose rows and columns are some elements
  // apart, to one [rows, columns, 5] for every place.
  struct Weights {
    std::int64_t rows, columns;
    std::int64_t rowStride, columnStride;
  };
  void (*weights)(const Weights &weights, const float *from, float *to);
  // And back, elements [begin, end) of the sum of `parts` such sets of `count`
  // elements a place, to five elements each.
  void (*weightGradients)(std::int64_t count, std::int64_t parts,
                          std::int64_t begin, std::int64_t end,
                          const float *from, float *to);
};

} // namespace kernels
