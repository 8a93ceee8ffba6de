#include "Dnnl.hpp"

#include <support/Error.hpp>

#include <omp.h>

namespace kernels {

SingleThread::SingleThread() : before_(omp_get_max_threads()) {
  if (before_ != 1) {
    omp_set_num_threads(1);
  }
}

SingleThread::~SingleThread() {
  if (before_ != 1) {
    omp_set_num_threads(before_);
  }
}

const dnnl::engine &dnnlEngine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::memory::desc dnnlStrided(const Shape &dimensions,
                               const Strides &strides) {
  return {dimensions, dnnl::memory::data_type::f32, strides};
}

dnnl::memory::desc dnnlAny(const Shape &dimensions) {
  return {dimensions, dnnl::memory::data_type::f32,
          dnnl::memory::format_tag::any};
}

DnnlOperation::DnnlOperation(const dnnl::primitive &primitive,
                             const std::vector<Argument> &arguments)
    : primitive_(primitive), stream_(dnnlEngine()) {
  for (const auto &argument : arguments) {
    memories_.push_back(
        dnnl::memory(argument.desc, dnnlEngine(), DNNL_MEMORY_NONE));
    arguments_.push_back({argument.id, memories_.back().get()});
  }
}

DnnlOperation DnnlOperation::reorder(const dnnl::memory::desc &from,
                                     const dnnl::memory::desc &to) {
  const dnnl::reorder::primitive_desc pd(dnnlEngine(), from, dnnlEngine(), to);
  return {dnnl::reorder(pd), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}};
}

void DnnlOperation::run(std::initializer_list<void *> addresses) const {
  const SingleThread single;
  std::size_t i = 0;
  for (void *address : addresses) {
    dnnl_memory_t memory = arguments_[i++].memory;
    void *current = nullptr;
    dnnl_memory_get_data_handle(memory, &current);
    if (current != address) { // setting it may fill the padding with zeros
      dnnl_memory_set_data_handle_v2(memory, address, stream_.get());
    }
  }
  const auto status = dnnl_primitive_execute(
      primitive_.get(), stream_.get(), static_cast<int>(arguments_.size()),
      arguments_.data());
  support::requireInternal(status == dnnl_success,
                           "a oneDNN primitive failed with status {}",
                           static_cast<int>(status));
}

} // namespace kernels
