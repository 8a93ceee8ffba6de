// A plan's own memory in a test: exactly as many bytes as it declares, so that
// a sanitizer sees what lies beyond them, and NaNs until they are written.
#pragma once

#include "GuardedBuffer.hpp"

#include <kernels/KernelEntry.hpp>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

namespace kernels::testing {

class PlanMemory {
public:
  explicit PlanMemory(const Plan &plan)
      : scratch_(plan.scratchBytes()), workspace_(plan.workspaceBytes()) {}

  // As a run of the plan finds it.
  void beginRun() { scratch_.fill(); }
  // As a task finds it: nothing is left of the task before.
  Memory beginTask() {
    workspace_.fill();
    return both();
  }
  Memory both() const { return {scratch_.data(), workspace_.data()}; }

private:
  class Bytes {
  public:
    explicit Bytes(std::size_t size) : size_(size) {
      void *raw = nullptr; // std::aligned_alloc would want whole lines
      if (posix_memalign(&raw, 64, size) != 0) {
        throw std::bad_alloc();
      }
      data_.reset(static_cast<std::byte *>(raw));
      fill();
    }
    void fill() { std::fill_n(data_.get(), size_, poison); }
    std::byte *data() const { return data_.get(); }

  private:
    struct Free {
      void operator()(std::byte *bytes) const { std::free(bytes); }
    };
    std::size_t size_;
    std::unique_ptr<std::byte[], Free> data_;
  };

  Bytes scratch_, workspace_;
};

} // namespace kernels::testing
