// Repeats of the schedule, those first that save most.
#include <transforms/ChooseOutlines.hpp>

#include <transforms/OutlineSchedule.hpp>
#include <transforms/RepeatedSequences.hpp>

#include <algorithm>
#include <optional>
#include <queue>
#include <set>
#include <tuple>

namespace popart {
namespace {

using Positions = std::vector<std::size_t>;

// A sequence and where it may be outlined.
struct Candidate {
  // What that saves, in units of Op::getSubgraphValue(): at most, until it is
  // measured.
  double benefit = 0;
  std::size_t length = 0;
  Positions positions;
  // After so many outlines.
  std::optional<std::size_t> measuredAfter;

  // Of equals the longer one, then the earlier one comes first.
  friend bool operator<(const Candidate &a, const Candidate &b) {
    return std::tuple(a.benefit, a.length, b.positions.front()) <
           std::tuple(b.benefit, b.length, a.positions.front());
  }
};

class Chooser {
public:
  Chooser(const Ir &ir, const Graph &graph)
      : options_(ir.sessionOptions), schedule_(ir, graph),
        isTaken_(schedule_.numbers().size()) {}

  std::vector<Outline> run() {
    for (const auto &sequence : findRepeatedSequences(schedule_.numbers())) {
      addCandidates(sequence);
    }
    std::vector<Outline> outlines;
    while (!queue_.empty()) {
      Candidate best = queue_.top();
      queue_.pop();
      if (best.measuredAfter != outlines.size()) {
        best = measured(best);
        best.measuredAfter = outlines.size();
      }
      if (best.positions.size() < 2) {
        continue;
      }
      if (!queue_.empty() && best < queue_.top()) {
        queue_.push(std::move(best));
      } else {
        outlines.push_back(take(best));
      }
    }
    return outlines;
  }

private:
  // A sequence that overlaps itself is a shorter one that follows itself; one
  // that goes from IPU to IPU may be worth less than its first part.
  void addCandidates(const RepeatedSequence &sequence) {
    std::size_t period = sequence.length;
    for (std::size_t i = 1; i < sequence.positions.size(); ++i) {
      period =
          std::min(period, sequence.positions[i] - sequence.positions[i - 1]);
    }
    std::size_t inPlace =
        schedule_.lengthInPlace(sequence.positions.front(), period);
    for (std::size_t length : std::set{sequence.length, period, inPlace}) {
      addCandidate(length, sequence.positions);
    }
  }

  void addCandidate(std::size_t length, const Positions &positions) {
    Candidate candidate{0, length, apart(length, positions), {}};
    setBenefit(candidate, schedule_.worth(positions.front(), length));
    if (candidate.positions.size() > 1) {
      queue_.push(std::move(candidate));
    }
  }

  static Positions apart(std::size_t length, const Positions &positions) {
    Positions result;
    for (std::size_t position : positions) {
      if (result.empty() || position >= result.back() + length) {
        result.push_back(position);
      }
    }
    return result;
  }

  // Nowhere if the sequence is not worth it.
  void setBenefit(Candidate &candidate, double worth) const {
    if (worth <= double{options_.outlineThreshold}) {
      candidate.positions.clear();
      return;
    }
    candidate.benefit =
        worth * static_cast<double>(candidate.positions.size() - 1);
  }

  // The candidate where it is still free and hangs together alike.
  Candidate measured(const Candidate &candidate) const {
    Candidate result{0, candidate.length, placesAlike(candidate), {}};
    if (!result.positions.empty()) {
      std::size_t first = result.positions.front();
      setBenefit(result,
                 schedule_.worth(first, result.length) - copyCost(result));
    }
    return result;
  }

  // As many as there are.
  Positions placesAlike(const Candidate &candidate) const {
    std::vector<Positions> groups;
    for (std::size_t position : candidate.positions) {
      auto begin = isTaken_.begin() + static_cast<std::ptrdiff_t>(position);
      auto end = begin + static_cast<std::ptrdiff_t>(candidate.length);
      if (std::find(begin, end, true) != end) {
        continue;
      }
      auto group = std::find_if(
          groups.begin(), groups.end(), [&](const Positions &places) {
            return schedule_.areAlike(places.front(), position,
                                      candidate.length);
          });
      if (group == groups.end()) {
        group = groups.insert(group, Positions());
      }
      group->push_back(position);
    }
    auto best = std::max_element(groups.begin(), groups.end(),
                                 [&](const Positions &a, const Positions &b) {
                                   return isLess(a, b, candidate.length);
                                 });
    return best == groups.end() ? Positions() : std::move(*best);
  }

  // Of as many places, those whose connections come first.
  bool isLess(const Positions &a, const Positions &b,
              std::size_t length) const {
    return a.size() != b.size() ? a.size() < b.size()
                                : schedule_.connections(b.front(), length) <
                                      schedule_.connections(a.front(), length);
  }

  // Each tensor that goes in or out is a copy, which is about as much code as a
  // cheap operation.
  double copyCost(const Candidate &candidate) const {
    if (!options_.enableOutliningCopyCostPruning) {
      return 0;
    }
    std::size_t inputs =
        schedule_.inputs(candidate.positions.front(), candidate.length).size();
    return static_cast<double>(inputs + outputsOf(candidate).size()) *
           double{Op::getLowSubgraphValue()};
  }

  // What is read after one of the sequences all of them return.
  std::vector<std::pair<std::size_t, OutIndex>>
  outputsOf(const Candidate &candidate) const {
    std::set<std::pair<std::size_t, OutIndex>> all;
    for (std::size_t position : candidate.positions) {
      auto outputs = schedule_.outputs(position, candidate.length);
      all.insert(outputs.begin(), outputs.end());
    }
    return {all.begin(), all.end()};
  }

  Outline take(const Candidate &candidate) {
    Outline outline{{}, outputsOf(candidate)};
    for (std::size_t position : candidate.positions) {
      std::fill_n(isTaken_.begin() + static_cast<std::ptrdiff_t>(position),
                  candidate.length, true);
      outline.places.push_back({schedule_.ops(position, candidate.length),
                                schedule_.inputs(position, candidate.length)});
    }
    return outline;
  }

  const SessionOptions &options_;
  OutlineSchedule schedule_;
  std::vector<bool> isTaken_;
  std::priority_queue<Candidate> queue_;
};

} // namespace

std::vector<Outline> chooseOutlines(const Ir &ir, const Graph &graph) {
  return Chooser(ir, graph).run();
}

} // namespace popart
