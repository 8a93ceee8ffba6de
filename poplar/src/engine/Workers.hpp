// The threads that run an engine's programs, one program at a time, and the
// memory that a task on each has to itself.
#pragma once

#include "engine/AlignedBuffer.hpp"

#include <support/SpinPool.hpp>

#include <cstddef>
#include <functional>
#include <vector>

namespace poplar::engine {

class Workers {
public:
  explicit Workers(unsigned threads) : pool_(threads) {}

  // Gives `count` workers so many bytes each; the others run no tasks.
  void makeWorkspaces(unsigned count, std::size_t bytes) {
    workspaces_.clear();
    for (unsigned w = 0; w < count; ++w) {
      workspaces_.emplace_back(bytes);
    }
  }
  std::byte *workspace(unsigned worker) const {
    return workspaces_[worker].data();
  }
  std::size_t workspaceBytes() const {
    return workspaces_.empty() ? 0 : workspaces_.size() * workspaces_[0].size();
  }

  // Runs job(worker) on the first `count` workers.
  void run(unsigned count, const std::function<void(unsigned)> &job) {
    if (count == 1) {
      pool_.runAlone(job);
      return;
    }
    pool_.run([&](unsigned worker) {
      if (worker < count) {
        job(worker);
      }
    });
  }

private:
  support::SpinPool pool_;
  std::vector<AlignedBuffer> workspaces_; // by worker
};

} // namespace poplar::engine
