// Element-wise operations, softmax, reductions, pooling and norms as primitives
// of oneDNN.
#include "PrimitiveCase.hpp"

#include <map>
#include <stdexcept>

namespace operations {
namespace {

// oneDNN keeps the layout of images that it is given: channels in blocks are
// its fastest from 16 on.
memory::desc imageDesc(const Shape &shape) {
  return {shape, memory::data_type::f32,
          shape[1] % 16 == 0 ? Tag::nChw16c : Tag::nchw};
}

int lastAxis(const memory::desc &desc) {
  return static_cast<int>(desc.dims().size()) - 1;
}

algorithm poolAlgorithm(const PrimitiveCase &made) {
  const Json &attributes = made.description.at("attributes");
  return attributes.value("poolingType", "MAX") == "MAX"
             ? algorithm::pooling_max
             : algorithm::pooling_avg_exclude_padding;
}

dnnl::pooling_forward::primitive_desc forwardPool(const PrimitiveCase &made,
                                                  const Shape &x) {
  Shape y = x;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto padded =
        x[i + 2] + made.ints("padLower")[i] + made.ints("padUpper")[i];
    y[i + 2] = (padded - made.ints("kernel")[i]) / made.ints("strides")[i] + 1;
  }
  return {{prop_kind::forward_training, poolAlgorithm(made), imageDesc(x),
           anyDesc(y), made.ints("strides"), made.ints("kernel"),
           made.ints("padLower"), made.ints("padUpper")},
          made.engine};
}

const auto scaleAndShift =
    dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;

dnnl::batch_normalization_forward::primitive_desc
forwardBatchNorm(const PrimitiveCase &made, const Shape &x, float epsilon) {
  return {{prop_kind::forward_training, imageDesc(x), epsilon, scaleAndShift},
          made.engine};
}

} // namespace

void makeElementwise(PrimitiveCase &made) {
  static const std::map<std::string, algorithm> unary{
      {"relu(a)", algorithm::eltwise_relu},
      {"exp(a)", algorithm::eltwise_exp},
      {"tanh(a)", algorithm::eltwise_tanh},
      {"sigmoid(a)", algorithm::eltwise_logistic},
      {"gelu_erf(a)", algorithm::eltwise_gelu_erf},
      {"0.5*a*(1+tanh(0.7978845608*(a+0.044715*a*a*a)))",
       algorithm::eltwise_gelu_tanh}};
  static const std::map<std::string, algorithm> binary{
      {"a+b", algorithm::binary_add}, {"a*b", algorithm::binary_mul}};
  const auto expression = made.description.at("expression").get<std::string>();
  const memory::desc a = plainDesc(made.shape(0));
  made.operands[DNNL_ARG_DST] = made.addResult(a);
  if (const auto found = unary.find(expression); found != unary.end()) {
    made.primitive = dnnl::eltwise_forward(
        {{prop_kind::forward_inference, found->second, a}, made.engine});
    made.operands[DNNL_ARG_SRC] = made.bring(0, a);
    return;
  }
  const auto found = binary.find(expression);
  if (found == binary.end()) {
    throw std::runtime_error("not timed with oneDNN: " + expression);
  }
  // oneDNN broadcasts between operands of the same rank.
  Shape second = made.shape(1);
  second.insert(second.begin(), a.dims().size() - second.size(), 1);
  made.description["inputs"][1]["shape"] = second;
  const memory::desc b = plainDesc(second);
  made.primitive = dnnl::binary({{found->second, a, b, a}, made.engine});
  made.operands[DNNL_ARG_SRC_0] = made.bring(0, a);
  made.operands[DNNL_ARG_SRC_1] = made.bring(1, b);
}

void makeSoftmax(PrimitiveCase &made) {
  const memory::desc x = plainDesc(made.shape(0));
  made.primitive = dnnl::softmax_forward(
      {{prop_kind::forward_training, x, lastAxis(x)}, made.engine});
  made.operands = {{DNNL_ARG_SRC, made.bring(0, x)},
                   {DNNL_ARG_DST, made.addResult(x)}};
}

void makeLogSoftmax(PrimitiveCase &made) {
  const memory::desc x = plainDesc(made.shape(0));
  made.primitive = dnnl::logsoftmax_forward(
      {{prop_kind::forward_training, x, lastAxis(x)}, made.engine});
  made.operands = {{DNNL_ARG_SRC, made.bring(0, x)},
                   {DNNL_ARG_DST, made.addResult(x)}};
}

void makeReduce(PrimitiveCase &made) {
  static const std::map<std::string, algorithm> all{
      {"ADD", algorithm::reduction_sum}, {"MAX", algorithm::reduction_max}};
  const Json &attributes = made.description.at("attributes");
  Shape reduced = made.shape(0);
  for (const auto dim : made.ints("dims")) {
    reduced[static_cast<std::size_t>(dim)] = 1;
  }
  const memory::desc x = plainDesc(made.shape(0));
  const memory::desc y = plainDesc(reduced);
  made.primitive = dnnl::reduction(
      {{all.at(attributes.at("op").get<std::string>()), x, y, 0, 0},
       made.engine});
  made.operands = {{DNNL_ARG_SRC, made.bring(0, x)},
                   {DNNL_ARG_DST, made.addResult(y)}};
}

void makePool(PrimitiveCase &made) {
  const auto desc = forwardPool(made, made.shape(0));
  made.primitive = dnnl::pooling_forward(desc);
  made.operands = {
      {DNNL_ARG_SRC, made.bring(0, desc.src_desc())},
      {DNNL_ARG_WORKSPACE, memory(desc.workspace_desc(), made.engine)},
      {DNNL_ARG_DST, made.addResult(desc.dst_desc())}};
}

void makePoolGrad(PrimitiveCase &made) {
  const auto forward = forwardPool(made, made.ints("inputShape"));
  const memory workspace(forward.workspace_desc(), made.engine);
  if (made.description.contains("before")) {
    // The gradient of a maximum wants to know where it was.
    PrimitiveCase before(made.description["before"], made.engine);
    makePool(before);
    before.operands[DNNL_ARG_WORKSPACE] = workspace;
    before.call(1);
  }
  const dnnl::pooling_backward::primitive_desc desc(
      {poolAlgorithm(made), forward.src_desc(), forward.dst_desc(),
       made.ints("strides"), made.ints("kernel"), made.ints("padLower"),
       made.ints("padUpper")},
      made.engine, forward);
  made.primitive = dnnl::pooling_backward(desc);
  made.operands = {{DNNL_ARG_DIFF_DST, made.bring(0, desc.diff_dst_desc())},
                   {DNNL_ARG_WORKSPACE, workspace},
                   {DNNL_ARG_DIFF_SRC, made.addResult(desc.diff_src_desc())}};
}

void makeBatchNorm(PrimitiveCase &made) {
  const auto epsilon =
      made.description.at("attributes").at("epsilon").get<float>();
  const auto desc = forwardBatchNorm(made, made.shape(0), epsilon);
  const memory::desc channels = plainDesc(made.shape(1));
  made.primitive = dnnl::batch_normalization_forward(desc);
  made.operands = {{DNNL_ARG_SRC, made.bring(0, desc.src_desc())},
                   {DNNL_ARG_SCALE, made.bring(1, channels)},
                   {DNNL_ARG_SHIFT, made.bring(2, channels)},
                   {DNNL_ARG_MEAN, memory(channels, made.engine)},
                   {DNNL_ARG_VARIANCE, memory(channels, made.engine)},
                   {DNNL_ARG_DST, made.addResult(desc.dst_desc())}};
}

void makeBatchNormGrad(PrimitiveCase &made) {
  PrimitiveCase before(made.description.at("before"), made.engine);
  makeBatchNorm(before);
  before.call(1);
  const auto epsilon =
      before.description.at("attributes").at("epsilon").get<float>();
  const memory::desc x = imageDesc(made.shape(1));
  const memory::desc channels = plainDesc(made.shape(2));
  const auto forward = forwardBatchNorm(made, made.shape(1), epsilon);
  const dnnl::batch_normalization_backward::primitive_desc desc(
      {prop_kind::backward, x, x, epsilon, scaleAndShift}, made.engine,
      forward);
  made.primitive = dnnl::batch_normalization_backward(desc);
  made.operands = {{DNNL_ARG_DIFF_DST, made.bring(0, x)},
                   {DNNL_ARG_SRC, made.bring(1, x)},
                   {DNNL_ARG_SCALE, made.bring(2, channels)},
                   // Not used, but missed where it is not there.
                   {DNNL_ARG_SHIFT, memory(channels, made.engine)},
                   {DNNL_ARG_MEAN, before.operands[DNNL_ARG_MEAN]},
                   {DNNL_ARG_VARIANCE, before.operands[DNNL_ARG_VARIANCE]},
                   {DNNL_ARG_DIFF_SRC, made.addResult(x)},
                   {DNNL_ARG_DIFF_SCALE, made.addResult(channels)},
                   {DNNL_ARG_DIFF_SHIFT, made.addResult(channels)}};
}

void makeLayerNorm(PrimitiveCase &made) {
  const Json &attributes = made.description.at("attributes");
  if (attributes.at("groups").get<int>() != 1 || made.shape(0).size() != 2) {
    throw std::runtime_error("oneDNN has no group norm");
  }
  const memory::desc x = plainDesc(made.shape(0));
  const memory::desc channels = plainDesc(made.shape(1));
  const memory::desc rows = plainDesc({made.shape(0)[0]});
  made.primitive = dnnl::layer_normalization_forward(
      {{prop_kind::forward_training, x, rows,
        attributes.at("epsilon").get<float>(), scaleAndShift},
       made.engine});
  made.operands = {{DNNL_ARG_SRC, made.bring(0, x)},
                   {DNNL_ARG_SCALE, made.bring(1, channels)},
                   {DNNL_ARG_SHIFT, made.bring(2, channels)},
                   {DNNL_ARG_MEAN, memory(rows, made.engine)},
                   {DNNL_ARG_VARIANCE, memory(rows, made.engine)},
                   {DNNL_ARG_DST, made.addResult(x)}};
}

} // namespace operations
