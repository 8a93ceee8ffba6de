// Matrix products and convolutions as primitives of oneDNN.
#include "PrimitiveCase.hpp"

namespace operations {
namespace {

dnnl::convolution_forward::primitive_desc
forwardConvolution(const PrimitiveCase &made, const Shape &x, const Shape &w,
                   const Shape &y) {
  return {{prop_kind::forward_training, algorithm::convolution_direct,
           anyDesc(x), anyDesc(w), anyDesc(y), made.ints("strides"),
           made.dilations(), made.ints("padLower"), made.ints("padUpper")},
          made.engine};
}

// Of the result of a convolution.
Shape resultShape(const PrimitiveCase &made, const Shape &x, const Shape &w) {
  Shape y{x[0], w[0], 0, 0};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto kernel = (w[i + 2] - 1) * made.ints("dilations")[i] + 1;
    const auto padded =
        x[i + 2] + made.ints("padLower")[i] + made.ints("padUpper")[i];
    y[i + 2] = (padded - kernel) / made.ints("strides")[i] + 1;
  }
  return y;
}

} // namespace

void makeMatmul(PrimitiveCase &made) {
  const Json &inputs = made.description.at("inputs");
  const auto desc = [&](std::size_t number) {
    return plainDesc(made.shape(number),
                     inputs.at(number).value("transposed", false));
  };
  const memory::desc a = desc(0);
  const memory::desc b = desc(1);
  Shape product = a.dims();
  product.back() = b.dims().back();
  const memory::desc c = plainDesc(product);
  made.primitive = dnnl::matmul({{a, b, c}, made.engine});
  made.operands = {{DNNL_ARG_SRC, made.bring(0, a)},
                   {DNNL_ARG_WEIGHTS, made.bring(1, b)},
                   {DNNL_ARG_DST, made.addResult(c)}};
}

void makeConvolution(PrimitiveCase &made) {
  const auto desc =
      forwardConvolution(made, made.shape(0), made.shape(1),
                         resultShape(made, made.shape(0), made.shape(1)));
  made.primitive = dnnl::convolution_forward(desc);
  made.operands = {{DNNL_ARG_SRC, made.bring(0, desc.src_desc())},
                   {DNNL_ARG_WEIGHTS, made.bring(1, desc.weights_desc())},
                   {DNNL_ARG_DST, made.addResult(desc.dst_desc())}};
}

void makeConvolutionDataGrad(PrimitiveCase &made) {
  const Shape x = made.ints("inputShape");
  const auto forward =
      forwardConvolution(made, x, made.shape(1), made.shape(0));
  const dnnl::convolution_backward_data::primitive_desc desc(
      {algorithm::convolution_direct, anyDesc(x), anyDesc(made.shape(1)),
       anyDesc(made.shape(0)), made.ints("strides"), made.dilations(),
       made.ints("padLower"), made.ints("padUpper")},
      made.engine, forward);
  made.primitive = dnnl::convolution_backward_data(desc);
  made.operands = {{DNNL_ARG_DIFF_DST, made.bring(0, desc.diff_dst_desc())},
                   {DNNL_ARG_WEIGHTS, made.bring(1, desc.weights_desc())},
                   {DNNL_ARG_DIFF_SRC, made.addResult(desc.diff_src_desc())}};
}

void makeConvolutionWeightGrad(PrimitiveCase &made) {
  const auto kernel = made.ints("kernelShape");
  const Shape w{made.shape(0)[1], made.shape(1)[1], kernel[0], kernel[1]};
  const auto forward =
      forwardConvolution(made, made.shape(1), w, made.shape(0));
  const dnnl::convolution_backward_weights::primitive_desc desc(
      {algorithm::convolution_direct, anyDesc(made.shape(1)), anyDesc(w),
       anyDesc(made.shape(0)), made.ints("strides"), made.dilations(),
       made.ints("padLower"), made.ints("padUpper")},
      made.engine, forward);
  made.primitive = dnnl::convolution_backward_weights(desc);
  made.operands = {
      {DNNL_ARG_DIFF_DST, made.bring(0, desc.diff_dst_desc())},
      {DNNL_ARG_SRC, made.bring(1, desc.src_desc())},
      {DNNL_ARG_DIFF_WEIGHTS, made.addResult(desc.diff_weights_desc())}};
}

} // namespace operations
