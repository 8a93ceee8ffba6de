// The threads that run an engine's programs, one program at a time, and the
// memory that a task on each has to itself.
#pragma once

#include "engine/AlignedBuffer.hpp"

#include <support/SpinPool.hpp>

#include <cstddef>
#include <functional>
#include <utility>
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
  unsigned threads() const { return pool_.workers(); }

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
  friend class OtherWorkspaces;

  support::SpinPool pool_;
  std::vector<AlignedBuffer> workspaces_; // by worker
};

// For as long as it lives, the workers have these in place of their own.
class OtherWorkspaces {
public:
  OtherWorkspaces(Workers &workers, unsigned count, std::size_t bytes)
      : workers_(workers), own_(std::move(workers.workspaces_)) {
    workers_.makeWorkspaces(count, bytes);
  }
  ~OtherWorkspaces() { workers_.workspaces_ = std::move(own_); }
  OtherWorkspaces(const OtherWorkspaces &) = delete;
  OtherWorkspaces &operator=(const OtherWorkspaces &) = delete;

private:
  Workers &workers_;
  std::vector<AlignedBuffer> own_;
};

} // namespace poplar::engine
