// Strides, dilations and padding of a window.
#include <ops/Window.hpp>

#include <ops/Common.hpp>

#include <algorithm>

namespace popart {
namespace {

// As many windows as strides fit into the field; the odd element of padding
// goes to the end, or to the front.
void padToSame(Window &window, const Shape &field, bool isUpper) {
  for (std::size_t d = 0; d < field.size(); ++d) {
    std::int64_t stride = window.strides[d];
    std::int64_t places = (field[d] + stride - 1) / stride;
    std::int64_t total = std::max<std::int64_t>(
        0, (places - 1) * stride + window.extent(d) - field[d]);
    window.padLower[d] = isUpper ? total / 2 : total - total / 2;
    window.padUpper[d] = total - window.padLower[d];
  }
}

// Pads until the last, partial window is whole; it must start before the upper
// padding.
void padPartialWindows(Window &window, const Shape &field) {
  for (std::size_t d = 0; d < field.size(); ++d) {
    std::int64_t stride = window.strides[d];
    std::int64_t size = field[d] + window.padLower[d] + window.padUpper[d];
    std::int64_t steps = (size - window.extent(d) + stride - 1) / stride;
    if (steps * stride >= field[d] + window.padLower[d]) {
      --steps;
    }
    window.padUpper[d] +=
        std::max<std::int64_t>(0, steps * stride + window.extent(d) - size);
  }
}

} // namespace

Shape Window::places(const Op &op, const Shape &field) const {
  Shape places;
  for (std::size_t d = 0; d < field.size(); ++d) {
    std::int64_t padded = field[d] + padLower[d] + padUpper[d];
    requireOp(op, padded >= extent(d),
              "the kernel covers {} elements of dimension {}, the padded input "
              "has {}",
              extent(d), 2 + d, padded);
    places.push_back((padded - extent(d)) / strides[d] + 1);
  }
  return places;
}

Attributes::Ints Window::pads() const {
  Attributes::Ints pads = padLower;
  pads.insert(pads.end(), padUpper.begin(), padUpper.end());
  return pads;
}

kernels::Attributes Window::kindAttributes() const {
  return {{"strides", strides},
          {"dilations", dilations},
          {"padLower", padLower},
          {"padUpper", padUpper}};
}

Shape fieldOf(const Shape &shape) {
  return {shape.begin() + 2, shape.end()};
}

Shape withField(const Shape &shape, const Shape &field) {
  Shape result = {shape[0], shape[1]};
  result.insert(result.end(), field.begin(), field.end());
  return result;
}

Window windowOf(const Op &op, const Shape &field,
                const Attributes::Ints &kernel) {
  auto count = static_cast<int>(field.size());
  requireOp(op, kernel.size() == field.size(),
            "the kernel has {} dimensions; the field has {}", kernel.size(),
            field.size());
  Window window;
  window.kernel = kernel;
  window.strides = intsOf(op, "strides", count, 1);
  window.dilations = intsOf(op, "dilations", count, 1);
  for (std::size_t d = 0; d < field.size(); ++d) {
    requireOp(op,
              window.strides[d] > 0 && window.dilations[d] > 0 && kernel[d] > 0,
              "kernel, strides and dilations must be positive");
  }
  auto pads = intsOf(op, "pads", 2 * count, 0);
  window.padLower.assign(pads.begin(), pads.begin() + count);
  window.padUpper.assign(pads.begin() + count, pads.end());
  std::string autoPad = op.attributes.getString("auto_pad", "NOTSET");
  requireOp(op,
            autoPad == "NOTSET" || autoPad == "VALID" ||
                autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER",
            "Invalid auto_pad provied: {}", autoPad);
  if (autoPad == "VALID") {
    window.padLower.assign(field.size(), 0);
    window.padUpper.assign(field.size(), 0);
  } else if (autoPad != "NOTSET") {
    padToSame(window, field, autoPad == "SAME_UPPER");
  }
  if (op.attributes.getInt("ceil_mode", 0) != 0) {
    padPartialWindows(window, field);
  }
  return window;
}

} // namespace popart
