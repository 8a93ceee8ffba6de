// oneDNN under our rules: primitives are made once, run with one thread on the
// caller's core, and take their memory from the plan.
#pragma once

#include <kernels/Signature.hpp>

#include <oneapi/dnnl/dnnl.hpp>

#include <optional>
#include <vector>

namespace kernels {

// While it lives, OpenMP regions of this thread have one thread: oneDNN divides
// its work by that number both when a primitive is made and when it runs.
class SingleThread {
public:
  SingleThread();
  ~SingleThread();
  SingleThread(const SingleThread &) = delete;
  SingleThread &operator=(const SingleThread &) = delete;

private:
  int before_;
};

const dnnl::engine &dnnlEngine();

// A float array of these dimensions and strides.
dnnl::memory::desc dnnlStrided(const Shape &dimensions, const Strides &strides);

// `dimensions` in whatever layout the primitive likes best.
dnnl::memory::desc dnnlAny(const Shape &dimensions);

// A primitive and its arguments' memory objects, whose addresses are set for
// every run. An operation is run by one thread at a time.
class DnnlOperation {
public:
  struct Argument {
    int id; // DNNL_ARG_...
    dnnl::memory::desc desc;
  };
  DnnlOperation(const dnnl::primitive &primitive,
                const std::vector<Argument> &arguments);

  // A copy from one layout to another, from DNNL_ARG_FROM to DNNL_ARG_TO.
  static DnnlOperation reorder(const dnnl::memory::desc &from,
                               const dnnl::memory::desc &to);

  // addresses[i] is argument i's.
  void run(std::initializer_list<void *> addresses) const;

private:
  dnnl::primitive primitive_;
  dnnl::stream stream_;
  std::vector<dnnl::memory> memories_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

} // namespace kernels
