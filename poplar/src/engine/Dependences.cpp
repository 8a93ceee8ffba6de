#include "engine/Dependences.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace poplar::engine {
namespace {

// Tasks are numbered over two iterations: the previous one's, then this one's.
using Numbers = std::vector<std::uint32_t>;

// Tasks of one stage of one call in one iteration.
using Group = std::uint32_t;

// What happened last to some bytes.
struct History {
  Group group = 0; // of the writers
  Numbers writers; // all of one group
  Numbers readers; // since then, or of the writers' own group
  Numbers before;  // whatever the writers had to wait for
};

void append(Numbers &to, const Numbers &from) {
  to.insert(to.end(), from.begin(), from.end());
}

void removeRepetitions(Numbers &numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

class ByteHistory {
public:
  ByteHistory() { segments_[nullptr] = {}; }

  // Adds to `found` what the task waits for, and records it.
  void access(const ByteAccess &access, std::uint32_t task,
              const std::vector<Group> &groups, Numbers &found) {
    if (access.begin >= access.end) {
      return;
    }
    cut(access.begin);
    cut(access.end);
    const auto first = segments_.find(access.begin);
    const auto last = segments_.find(access.end);
    bool isAlone = access.isWrite;
    for (auto at = first; at != last; ++at) {
      if (access.isWrite) {
        write(at->second, task, groups, found);
        isAlone = isAlone && at->second.writers.size() == 1;
      } else {
        read(at->second, task, groups, found);
      }
    }
    if (isAlone) {
      join(first, last);
    }
  }

private:
  using Segments = std::map<const std::byte *, History>; // by first byte

  // Memory is used again and again: without this, it would be cut ever finer,
  // and all that touches it would walk through all of the cuts.
  void join(Segments::iterator first, Segments::iterator last) {
    History &whole = first->second;
    for (auto at = std::next(first); at != last; at = segments_.erase(at)) {
      append(whole.readers, at->second.readers);
      append(whole.before, at->second.before);
    }
    removeRepetitions(whole.readers);
    removeRepetitions(whole.before);
  }

  void cut(const std::byte *at) {
    const auto after = segments_.upper_bound(at);
    const auto segment = std::prev(after);
    if (segment->first != at) {
      segments_.emplace_hint(after, at, segment->second);
    }
  }

  static void read(History &history, std::uint32_t task,
                   const std::vector<Group> &groups, Numbers &found) {
    const bool isOwn =
        !history.writers.empty() && history.group == groups[task];
    append(found, isOwn ? history.before : history.writers);
    history.readers.push_back(task);
  }

  static void write(History &history, std::uint32_t task,
                    const std::vector<Group> &groups, Numbers &found) {
    if (history.writers.empty() || history.group != groups[task]) {
      Numbers own;
      history.before = std::exchange(history.writers, {});
      for (std::uint32_t reader : history.readers) {
        (groups[reader] == groups[task] ? own : history.before)
            .push_back(reader);
      }
      history.readers = std::move(own);
      history.group = groups[task];
    }
    append(found, history.before);
    history.writers.push_back(task);
  }

  Segments segments_;
};

} // namespace

std::vector<std::vector<Dependence>>
findDependences(const std::vector<TaskItem> &tasks, bool isLoop) {
  const auto count = static_cast<std::uint32_t>(tasks.size());
  const std::uint32_t iterations = isLoop ? 2 : 1;
  std::vector<Group> groups;
  for (std::uint32_t i = 0; i < iterations * count; ++i) {
    const bool isSame = i % count != 0 &&
                        tasks[i % count].call == tasks[i % count - 1].call &&
                        tasks[i % count].stage == tasks[i % count - 1].stage;
    groups.push_back(groups.empty() ? 1 : groups.back() + (isSame ? 0 : 1));
  }
  ByteHistory history;
  std::vector<std::vector<Dependence>> result(count);
  Numbers foundFor(iterations * count, ~0U); // the last task that waits for one
  Numbers stage, earlierStage;               // of the current call
  Numbers lastStream;                        // and its parts
  for (std::uint32_t i = 0; i < iterations * count; ++i) {
    const TaskItem &task = tasks[i % count];
    const bool isNewCall =
        i % count == 0 || task.call != tasks[i % count - 1].call;
    if (isNewCall) {
      stage.clear(), earlierStage.clear();
    } else if (groups[i] != groups[i - 1]) {
      earlierStage = std::exchange(stage, {});
    }
    stage.push_back(i);
    Numbers found = earlierStage;
    for (const ByteAccess &access : task.accesses) {
      history.access(access, i, groups, found);
    }
    if (task.isStream) {
      append(found, lastStream);
      lastStream = {i};
    } else if (task.isStreamPart) {
      lastStream.push_back(i);
    }
    if (i < (iterations - 1) * count) {
      continue; // only there to be depended on
    }
    std::vector<Dependence> &dependences = result[i % count];
    for (std::uint32_t other : found) {
      if (other != i && std::exchange(foundFor[other], i) != i) {
        dependences.push_back({other % count, isLoop && other < count});
      }
    }
    std::sort(dependences.begin(), dependences.end());
  }
  return result;
}

} // namespace poplar::engine
