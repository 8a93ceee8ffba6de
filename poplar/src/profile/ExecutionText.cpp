// The execution section of the profile summary.
#include "profile/ExecutionText.hpp"

#include "model/Timeline.hpp"
#include "model/VertexTypes.hpp"
#include "profile/StepText.hpp"
#include "profile/Text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace poplar::profile {

using model::ExecutionCost;
using model::IpuCosts;

namespace {

// A line for each run; many runs of one program in a row are one line.
void printPrograms(std::ostream &stream, const ProfileRequest &request) {
  constexpr std::uint64_t most = 10;
  stream << "  Programs executed:\n\n";
  for (const ProgramRun &run : request.runs) {
    const std::string line =
        "    " + (run.name.empty() ? "<anonymous>." : run.name);
    if (run.count > most) {
      stream << fmt::format("{} ({} times)\n", line, thousands(run.count));
      continue;
    }
    for (std::uint64_t i = 0; i < run.count; ++i) {
      stream << line << '\n';
    }
  }
  stream << '\n';
}

// Sums over the IPUs of something that all tiles of an IPU spend.
std::uint64_t sumOf(const ExecutionCost &cost, std::uint64_t IpuCosts::*field) {
  std::uint64_t sum = 0;
  for (const IpuCosts &ipu : cost.ipus) {
    sum += ipu.*field;
  }
  return sum;
}

void printTotals(std::ostream &stream, const ExecutionCost &cost,
                 const model::StepTable &steps) {
  const auto total = static_cast<double>(cost.total);
  const auto print = [&](const char *label, const std::string &value,
                         const std::string &note) {
    stream << fmt::format("  {:<53} {} ({})\n", label, value, note);
  };
  const auto printAverage = [&](const char *label, std::uint64_t sum,
                                unsigned over) {
    const double average = static_cast<double>(sum) / over;
    print(label, decimal(average), percent(average, total) + " of total");
  };
  print("Total cycles:", thousands(cost.total),
        fmt::format("approx {} microseconds",
                    decimal(total / steps.target().clockHz * 1e6)));
  printAverage("Tile average compute cycles (including idle threads):",
               sumOf(cost, &IpuCosts::tileCompute), steps.tiles());
  printAverage("Tile average compute cycles (excluding idle threads):",
               sumOf(cost, &IpuCosts::threadCycles), steps.tiles());
  printAverage("Tile average IPU exchange cycles:",
               sumOf(cost, &IpuCosts::tileExchange), steps.tiles());
  printAverage("Tile average global exchange cycles:",
               sumOf(cost, &IpuCosts::globalExchange), steps.ipus());
  printAverage("Tile average host exchange cycles:",
               sumOf(cost, &IpuCosts::hostExchange), steps.ipus());
  printAverage("Tile average sync cycles:", sumOf(cost, &IpuCosts::sync),
               steps.ipus());
}

// Not in the SDK's text: how evenly the IPUs of a sharded or pipelined program
// are used. The columns of a row add up to the total cycles.
void printByIpu(std::ostream &stream, const ExecutionCost &cost) {
  if (cost.ipus.size() < 2) {
    return;
  }
  constexpr auto row = "    {:>3}{:>16} {:>8}{:>16}{:>16}{:>16}{:>16}{:>16}\n";
  stream << "\n  By IPU:\n"
         << fmt::format(row, "IPU", "Busy", "", "Compute", "IPU exchange",
                        "Global exch.", "Host exchange", "Sync and wait");
  for (std::size_t i = 0; i < cost.ipus.size(); ++i) {
    const IpuCosts &ipu = cost.ipus[i];
    const auto share =
        fmt::format("({})", percent(static_cast<double>(ipu.busy()),
                                    static_cast<double>(cost.total)));
    stream << fmt::format(
        row, i, thousands(ipu.busy()), share, thousands(ipu.compute),
        thousands(ipu.exchange), thousands(ipu.globalExchange),
        thousands(ipu.hostExchange), thousands(ipu.clock() - ipu.busy()));
  }
}

void printVertexTypes(std::ostream &stream, const ProfileRequest &request,
                      model::StepTable &steps,
                      const std::vector<std::uint64_t> &runs) {
  const auto costs = model::costByVertexType(steps, request.programs, runs);
  struct Row {
    std::string type;
    std::string instances;
    std::uint64_t cycles;
  };
  std::vector<Row> rows;
  std::size_t typeWidth = 0;
  std::size_t instanceWidth = 0;
  std::size_t cyclesWidth = 0;
  for (const auto &[type, cost] : costs) {
    rows.push_back({type, thousands(cost.instances), cost.cycles});
    typeWidth = std::max(typeWidth, type.size());
    instanceWidth = std::max(instanceWidth, rows.back().instances.size());
    cyclesWidth = std::max(cyclesWidth, thousands(cost.cycles).size());
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) {
    return a.cycles > b.cycles;
  });
  stream << "\n  Cycles by vertex type:\n";
  for (const Row &row : rows) {
    stream << fmt::format("    {:<{}}   ({:>{}} instances):   {:>{}}\n",
                          row.type, typeWidth, row.instances, instanceWidth,
                          thousands(row.cycles), cyclesWidth);
  }
}

// How often each program ran.
std::vector<std::uint64_t> countRuns(const ProfileRequest &request) {
  std::vector<std::uint64_t> runs(request.programs.size(), 0);
  for (const ProgramRun &run : request.runs) {
    runs[run.program] += run.count;
  }
  return runs;
}

ExecutionCost costOf(const ProfileRequest &request,
                     const std::vector<std::uint64_t> &runs, unsigned ipus,
                     model::Timeline &timeline) {
  ExecutionCost total;
  total.ipus.resize(ipus);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i] != 0) {
      total.add(timeline.run(request.programs[i]), runs[i]);
    }
  }
  return total;
}

} // namespace

model::ExecutionCost measureExecution(const ProfileRequest &request) {
  model::StepTable steps(request.graph, request.counts);
  model::Timeline timeline(steps);
  return costOf(request, countRuns(request), steps.ipus(), timeline);
}

void printExecution(std::ostream &stream, const ProfileRequest &request,
                    model::StepTable &steps) {
  std::vector<std::uint64_t> runs = countRuns(request);
  model::Timeline timeline(steps);
  const ExecutionCost total = costOf(request, runs, steps.ipus(), timeline);
  stream << heading("Execution:", request.colours) << "\n\n";
  printPrograms(stream, request);
  printTotals(stream, total, steps);
  printByIpu(stream, total);
  printVertexTypes(stream, request, steps, runs);
  if (request.showOptimizations) {
    stream << "\n  Optimizations:\n"
           << fmt::format("    Syncs shared by consecutive copies: {}\n",
                          thousands(sumOf(total, &IpuCosts::sharedSyncs)));
  }
  if (request.showExecutionSteps) {
    stream << '\n';
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (runs[i] != 0) {
        printSteps(stream, request.programs[i], steps, timeline.overlaps());
      }
    }
  }
}

} // namespace poplar::profile
