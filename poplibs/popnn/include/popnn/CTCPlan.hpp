// How the work of connectionist temporal classification is spread.
#pragma once

#include <memory>

namespace popnn {
namespace ctc {

// Made by plan() of CTCLoss.hpp or CTCInference.hpp, for calls of those sizes.
class Plan {
public:
  Plan();
  ~Plan();
  Plan(const Plan &other);
  Plan(Plan &&other) noexcept;
  Plan &operator=(const Plan &other);
  Plan &operator=(Plan &&other) noexcept;

  // Of the libraries.
  struct Impl;
  explicit Plan(std::unique_ptr<Impl> impl);
  const Impl *get() const { return impl_.get(); }

private:
  std::unique_ptr<Impl> impl_;
};

} // namespace ctc
} // namespace popnn
