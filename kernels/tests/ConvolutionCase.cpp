#include "ConvolutionCase.hpp"

#include <utility>

namespace kernels::testing {

Call ConvolutionCase::call(bool hasBias, std::string activation) const {
  constexpr auto F = DataType::Float;
  Attributes attributes{{"strides", strides},
                        {"padLower", padLower},
                        {"padUpper", padUpper},
                        {"dilations", dilations},
                        {"groups", std::int64_t{1}},
                        {"bias", std::int64_t{hasBias}},
                        {"activation", std::move(activation)}};
  std::vector<Input> inputs{{{F, {batch, in, field[0], field[1]}}, {}, {}},
                            {{F, {out, in, kernel[0], kernel[1]}}, {}, {}}};
  if (hasBias) {
    inputs.push_back({{F, {out}}, {}, {}});
  }
  return {"convolution", std::move(attributes), std::move(inputs)};
}

} // namespace kernels::testing
