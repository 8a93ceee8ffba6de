#include "InstancePlan.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace tools {
namespace {

using poplar::poplar_error;
using support::requireUser;

// At commas that are not inside brackets.
std::vector<std::string> splitHosts(const std::string &text) {
  std::vector<std::string> parts(1);
  bool isInside = false;
  for (char c : text) {
    isInside = c == '[' || (isInside && c != ']');
    if (c == ',' && !isInside) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

unsigned parseNumber(std::string_view text, const std::string &all) {
  unsigned number = 0;
  const char *end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  requireUser<poplar_error>(error == std::errc() && last == end,
                            "'{}' in the hosts '{}' is not a number; allowed "
                            "are a,b and host[0-2,4]",
                            text, all);
  return number;
}

// Of one name whose brackets hold numbers and ranges.
void addRange(const std::string &name, const std::string &all,
              std::vector<std::string> &hosts) {
  const std::size_t open = name.find('[');
  const std::size_t close = name.find(']');
  if (open == std::string::npos) {
    requireUser<poplar_error>(!name.empty(), "a host in '{}' has no name", all);
    hosts.push_back(name);
    return;
  }
  requireUser<poplar_error>(close != std::string::npos,
                            "the hosts '{}' have no ']'", all);
  std::string_view ranges(name);
  ranges = ranges.substr(open + 1, close - open - 1);
  while (!ranges.empty()) {
    const std::string_view range = ranges.substr(0, ranges.find(','));
    const std::size_t dash = range.find('-');
    const unsigned first = parseNumber(range.substr(0, dash), all);
    const unsigned last =
        dash == range.npos ? first : parseNumber(range.substr(dash + 1), all);
    for (unsigned i = first; i <= last; ++i) {
      hosts.push_back(fmt::format("{}{}{}", name.substr(0, open), i,
                                  name.substr(close + 1)));
    }
    ranges.remove_prefix(std::min(ranges.size(), range.size() + 1));
  }
}

// In the middle, the left side having less where it is not even.
std::string middle(std::string_view text, std::size_t width) {
  const std::size_t left = (width - text.size()) / 2;
  return std::string(left, ' ') + std::string(text) +
         std::string(width - text.size() - left, ' ');
}

class TopologyTable {
public:
  explicit TopologyTable(const InstancePlan &plan) : plan_(plan) {
    std::size_t longest = 0;
    for (const std::string &host : plan.hosts) {
      longest = std::max(longest, host.size());
    }
    // Wide enough for the last replica's number, and a host's name above its
    // replicas.
    const std::size_t hostReplicas = plan.replicas / plan.hosts.size();
    indexWidth_ = std::to_string(plan.replicas - 1).size();
    while (spanOf(hostReplicas) < longest) {
      ++indexWidth_;
    }
  }

  std::string text() const {
    const std::size_t all = spanOf(plan_.replicas);
    const std::size_t width = labelWidth + 1 + all;
    const std::string line = fmt::format(
        "|{}|{}|\n", std::string(labelWidth, '-'), std::string(all, '-'));
    std::string result =
        fmt::format(" {0}\n|{1}|\n|{0}|\n", std::string(width, '='),
                    middle("poprun topology", width));
    result += row("hosts", plan_.hosts) + line;
    result += row("ILDs", {"0"}) + line;
    result += row("instances", numbers(plan_.instances)) + line;
    std::string cells;
    for (unsigned i = 0; i < plan_.replicas; ++i) {
      cells += fmt::format("| {:<{}} ", i, indexWidth_);
    }
    result += fmt::format("| {:<{}}{}|\n", "replicas", labelWidth - 1, cells);
    return result + fmt::format(" {}\n", std::string(width, '-'));
  }

private:
  static constexpr std::size_t labelWidth = 11;

  // Columns of so many replicas' cells and the bars between them.
  std::size_t spanOf(std::size_t replicas) const {
    return replicas * (indexWidth_ + 2) + replicas - 1;
  }

  static std::vector<std::string> numbers(unsigned count) {
    std::vector<std::string> result;
    for (unsigned i = 0; i < count; ++i) {
      result.push_back(std::to_string(i));
    }
    return result;
  }

  // Each cell above its share of the replicas.
  std::string row(const char *label,
                  const std::vector<std::string> &cells) const {
    const std::size_t width = spanOf(plan_.replicas / cells.size());
    std::string result = fmt::format("| {:<{}}", label, labelWidth - 1);
    for (const std::string &cell : cells) {
      result += "|" + middle(cell, width);
    }
    return result + "|\n";
  }

  const InstancePlan &plan_;
  std::size_t indexWidth_ = 1;
};

} // namespace

void checkPlan(const InstancePlan &plan) {
  requireUser<poplar_error>(plan.instances >= 1 && plan.replicas >= 1 &&
                                plan.ipusPerReplica >= 1,
                            "--num-instances ({}), --num-replicas ({}) and "
                            "--ipus-per-replica ({}) must be at least 1",
                            plan.instances, plan.replicas, plan.ipusPerReplica);
  requireUser<poplar_error>(plan.replicas % plan.instances == 0,
                            "--num-replicas ({}) must be divisible by "
                            "--num-instances ({})",
                            plan.replicas, plan.instances);
  requireUser<poplar_error>(plan.instances % plan.hosts.size() == 0,
                            "--num-instances ({}) must be divisible by the "
                            "number of hosts ({})",
                            plan.instances, plan.hosts.size());
  requireUser<poplar_error>(
      plan.onlyOutputFrom.value_or(0) < plan.instances,
      "--only-output-from-instance is {}; there are instances 0 to {}",
      plan.onlyOutputFrom.value_or(0), plan.instances - 1);
}

std::vector<std::string> parseHosts(const std::string &text) {
  std::vector<std::string> hosts;
  for (const std::string &name : splitHosts(text)) {
    addRange(name, text, hosts);
  }
  return hosts;
}

Environment environmentOf(const InstancePlan &plan, unsigned instance) {
  const unsigned local = plan.replicasOfInstance();
  Environment result = {
      {"POPDIST_NUM_TOTAL_REPLICAS", std::to_string(plan.replicas)},
      {"POPDIST_NUM_IPUS_PER_REPLICA", std::to_string(plan.ipusPerReplica)},
      {"POPDIST_NUM_LOCAL_REPLICAS", std::to_string(local)},
      {"POPDIST_UNIFORM_REPLICAS_PER_INSTANCE", "1"},
      {"POPDIST_REPLICA_INDEX_OFFSET", std::to_string(instance * local)},
      {"POPDIST_LOCAL_INSTANCE_INDEX",
       std::to_string(instance % plan.instancesOfHost())}};
  if (!plan.executableCachePath.empty()) {
    result.emplace_back("POPDIST_EXECUTABLE_CACHE_PATH",
                        plan.executableCachePath);
  }
  return result;
}

std::string topologyTable(const InstancePlan &plan) {
  return TopologyTable(plan).text();
}

} // namespace tools
