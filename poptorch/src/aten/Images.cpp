// Windows over tensors, and images made larger, smaller or rearranged.
#include "AtenTable.hpp"
#include "Parts.hpp"

namespace poptorch {
namespace {

using popart::TensorId;

// The elements that windows of `size` elements, `dilation` apart, cover: [size,
// windows].
Ints windowPlaces(std::int64_t size, std::int64_t windows, std::int64_t stride,
                  std::int64_t dilation) {
  Ints places;
  for (std::int64_t i = 0; i < size; ++i) {
    for (std::int64_t w = 0; w < windows; ++w) {
      places.push_back(w * stride + i * dilation);
    }
  }
  return places;
}

// x.unfold(dim, size, step): the windows' elements become the last dimension.
void lowerUnfold(CallLowering &call) {
  TensorId x = withDims(call, call.tensor(0));
  auto dim = dimOf(call, 1, call.rank(x));
  auto size = call.integer(2);
  auto count = call.shape(x)[static_cast<std::size_t>(dim)];
  auto windows = (count - size) / call.integer(3) + 1;
  TensorId places = call.constant(
      windowPlaces(size, windows, call.integer(3), 1), {size, windows});
  TensorId y = gathered(call, x, places, dim);
  y = moved(call, y, dim, call.rank(y) - 1);
  call.setResult(0, call.reshape(y, call.resultInfo().shape()));
}

// What im2col and col2im share: their windows over a padded image.
struct Windows {
  Ints kernel, dilation, padding, stride, counts;
  popart::Shape image;  // [N, C, H, W]
  popart::Shape padded; // H and W of the padded image
};

Windows windowsOf(CallLowering &call, const popart::Shape &image,
                  std::size_t first) {
  Windows w;
  w.kernel = call.integers(first, 2, 1);
  w.dilation = call.integers(first + 1, 2, 1);
  w.padding = call.integers(first + 2, 2, 0);
  w.stride = call.integers(first + 3, 2, 1);
  w.image = image;
  for (std::size_t d = 0; d < 2; ++d) {
    w.padded.push_back(image[d + 2] + 2 * w.padding[d]);
    w.counts.push_back((w.padded[d] - w.dilation[d] * (w.kernel[d] - 1) - 1) /
                           w.stride[d] +
                       1);
  }
  return w;
}

// im2col(x, kernel, dilation, padding, stride)
void lowerIm2Col(CallLowering &call) {
  TensorId x = call.tensor(0);
  popart::Shape image = call.shape(x);
  if (image.size() == 3) {
    image.insert(image.begin(), 1);
  }
  Windows w = windowsOf(call, image, 1);
  Ints pads = {0, 0, w.padding[0], w.padding[1]};
  TensorId y = padded(call, call.reshape(x, image), pads, pads);
  for (std::size_t d = 0; d < 2; ++d) {
    TensorId places = call.constant(
        windowPlaces(w.kernel[d], w.counts[d], w.stride[d], w.dilation[d]),
        {w.kernel[d], w.counts[d]});
    y = gathered(call, y, places, d == 0 ? 2 : 4);
  }
  y = call.transpose(y, {0, 1, 2, 4, 3, 5});
  call.setResult(0, call.reshape(y, call.resultInfo().shape()));
}

// col2im(x, size, kernel, dilation, padding, stride): the sum of what lies on
// each element.
void lowerCol2Im(CallLowering &call) {
  TensorId x = call.tensor(0);
  popart::Shape image = call.resultInfo().shape();
  if (image.size() == 3) {
    image.insert(image.begin(), 1);
  }
  Windows w = windowsOf(call, image, 2);
  Ints places;
  auto rows =
      windowPlaces(w.kernel[0], w.counts[0], w.stride[0], w.dilation[0]);
  auto columns =
      windowPlaces(w.kernel[1], w.counts[1], w.stride[1], w.dilation[1]);
  // In the order of x: [kernel, kernel, windows, windows].
  for (std::int64_t i = 0; i < w.kernel[0]; ++i) {
    for (std::int64_t j = 0; j < w.kernel[1]; ++j) {
      for (std::int64_t r = 0; r < w.counts[0]; ++r) {
        for (std::int64_t c = 0; c < w.counts[1]; ++c) {
          auto row = rows[static_cast<std::size_t>(i * w.counts[0] + r)];
          auto column = columns[static_cast<std::size_t>(j * w.counts[1] + c)];
          places.push_back(row * w.padded[1] + column);
        }
      }
    }
  }
  auto count = static_cast<std::int64_t>(places.size());
  auto images = image[0] * image[1];
  TensorId zeros = call.filled(
      0, popart::TensorInfo(call.type(x), {images, w.padded[0] * w.padded[1]}));
  TensorId indices =
      expanded(call, call.constant(places, {count}), {images, count});
  TensorId sums = scattered(call, zeros, indices,
                            call.reshape(x, {images, count}), 1, true);
  TensorId whole =
      call.reshape(sums, {image[0], image[1], w.padded[0], w.padded[1]});
  Ints pads = {0, 0, -w.padding[0], -w.padding[1]};
  call.setResult(0, call.reshape(padded(call, whole, pads, pads),
                                 call.resultInfo().shape()));
}

// Result sizes of interpolation by the fields' dimensions, and the factors that
// were meant where they were given, unless sizes alone decide: (x, size?,
// factors?) or, without ".vec", (x, size, factor?, factor?, ...), after `extra`
// other arguments.
TensorId resized(CallLowering &call, std::size_t extra,
                 popart::Attributes attributes, bool bySizes = false) {
  TensorId x = call.tensor(0);
  const popart::Shape &from = call.shape(x);
  const popart::Shape &to = call.resultInfo().shape();
  bool isVector = call.call().op.ends_with(".vec");
  std::vector<float> factors = {1, 1};
  bool areGiven = !bySizes;
  for (std::size_t d = 2; d < from.size(); ++d) {
    std::size_t i = 2 + extra + (isVector ? 0 : d - 2);
    areGiven = areGiven && !call.isNone(i);
    factors.push_back(!areGiven  ? 0
                      : isVector ? static_cast<float>(call.reals(i)[d - 2])
                                 : static_cast<float>(call.real(i)));
  }
  if (areGiven) {
    attributes.set("scales", factors);
    return call.add("Resize", {x}, attributes, 11);
  }
  auto rank = static_cast<std::int64_t>(to.size());
  return call.add("Resize", {x, "", "", call.constant(to, {rank})}, attributes,
                  11);
}

// upsample_nearest*; the "exact" ones place elements by their centres.
void lowerNearest(CallLowering &call) {
  call.setResult(0, resized(call, 0,
                            popart::Attributes()
                                .set("mode", std::string("nearest"))
                                .set("nearest_mode", std::string("floor"))
                                .set("coordinate_transformation_mode",
                                     call.popartType())));
}

// upsample_linear1d, bilinear2d, trilinear3d and bicubic2d(x, size,
// align_corners, factors)
void lowerInterpolate(CallLowering &call) {
  const char *places = call.boolean(2) ? "align_corners" : "half_pixel";
  call.setResult(0, resized(call, 1,
                            popart::Attributes()
                                .set("mode", call.popartType())
                                .set("cubic_coeff_a", -0.75f)
                                .set("coordinate_transformation_mode",
                                     std::string(places)),
                            call.boolean(2)));
}

// pixel_shuffle(x, r): [..., C r r, H, W] becomes [..., C, H r, W r].
void lowerPixelShuffle(CallLowering &call) {
  const popart::Shape &to = call.resultInfo().shape();
  auto r = call.integer(1);
  auto n = to.size();
  TensorId x = call.tensor(0);
  TensorId blocks = call.reshape(
      x, {call.info(x).nelms() / (r * r * to[n - 2] / r * (to[n - 1] / r)), r,
          r, to[n - 2] / r, to[n - 1] / r});
  call.setResult(0, call.reshape(call.transpose(blocks, {0, 3, 1, 4, 2}), to));
}

// The way back.
void lowerPixelUnshuffle(CallLowering &call) {
  TensorId x = call.tensor(0);
  const popart::Shape &from = call.shape(x);
  auto r = call.integer(1);
  auto n = from.size();
  auto rows = from[n - 2] / r;
  auto columns = from[n - 1] / r;
  TensorId blocks =
      call.reshape(x, {call.info(x).nelms() / (from[n - 2] * from[n - 1]), rows,
                       r, columns, r});
  call.setResult(0, call.reshape(call.transpose(blocks, {0, 2, 4, 1, 3}),
                                 call.resultInfo().shape()));
}

// channel_shuffle(x, groups)
void lowerChannelShuffle(CallLowering &call) {
  TensorId x = call.tensor(0);
  const popart::Shape &shape = call.shape(x);
  auto groups = call.integer(1);
  auto size = call.info(x).nelms() / (shape[0] * shape[1]);
  TensorId split = call.reshape(x, {shape[0], groups, shape[1] / groups, size});
  call.setResult(0, call.reshape(call.transpose(split, {0, 2, 1, 3}), shape));
}

} // namespace

std::vector<AtenRow> imageRows() {
  std::vector<AtenRow> rows = {
      {"aten::unfold", lowerUnfold},
      {"aten::im2col", lowerIm2Col},
      {"aten::col2im", lowerCol2Im},
      {"aten::pixel_shuffle", lowerPixelShuffle},
      {"aten::pixel_unshuffle", lowerPixelUnshuffle},
      {"aten::channel_shuffle", lowerChannelShuffle},
  };
  for (const char *form : {"", ".vec"}) {
    auto add = [&](const std::string &op, void (*lower)(CallLowering &),
                   const char *mode) {
      rows.push_back({"aten::" + op + form, lower, mode});
    };
    for (const char *rank : {"1d", "2d", "3d"}) {
      add(std::string("upsample_nearest") + rank, lowerNearest, "asymmetric");
      add(std::string("_upsample_nearest_exact") + rank, lowerNearest,
          "tf_half_pixel_for_nn");
    }
    add("upsample_bilinear2d", lowerInterpolate, "linear");
    add("upsample_bicubic2d", lowerInterpolate, "cubic");
    add("upsample_linear1d", lowerInterpolate, "linear");
    add("upsample_trilinear3d", lowerInterpolate, "linear");
  }
  return rows;
}

} // namespace poptorch
