#include "Gemm.hpp"

#include "PlanHelpers.hpp"

namespace kernels {

namespace {

DnnlOperation makeOperation(const GemmShape &s, std::size_t &scratchBytes) {
  const SingleThread single;
  const auto strides = [](std::int64_t distance, bool isTransposed) {
    return isTransposed ? Strides{1, distance} : Strides{distance, 1};
  };
  const auto a = dnnlStrided({s.m, s.k}, strides(s.lda, s.isTransposedA));
  const auto b = dnnlStrided({s.k, s.n}, strides(s.ldb, s.isTransposedB));
  const auto y = dnnlStrided({s.m, s.n}, {s.ldy, 1});
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (s.isAdded) {
    dnnl::post_ops postOps;
    postOps.append_sum(1);
    attributes.set_post_ops(postOps);
  }
  const dnnl::matmul::primitive_desc pd(dnnl::matmul::desc(a, b, y), attributes,
                                        dnnlEngine());
  scratchBytes = lineAligned(pd.scratchpad_desc().get_size());
  return DnnlOperation(dnnl::matmul(pd),
                       {{DNNL_ARG_SRC, a},
                        {DNNL_ARG_WEIGHTS, b},
                        {DNNL_ARG_DST, y},
                        {DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc()}});
}

} // namespace

Gemm::Gemm(const GemmShape &shape)
    : operation_(makeOperation(shape, scratchBytes_)) {}

void Gemm::run(const float *a, const float *b, float *y,
               std::byte *scratch) const {
  operation_.run({const_cast<float *>(a), const_cast<float *>(b), y, scratch});
}

} // namespace kernels
