// The links between IPUs, as bandwidth caps on the hops of a ladder.
#include "model/IpuLinks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace poplar::model {

namespace {

// A directed hop, and whether it carries traffic on its way elsewhere: such
// traffic crosses a rung on fewer links than traffic between the partners.
struct Hop {
  unsigned from;
  unsigned to;
  bool isTransit;

  friend auto operator<=>(const Hop &, const Hop &) = default;
};

bool arePartners(unsigned a, unsigned b) {
  return a / 2 == b / 2;
}

std::vector<Hop> route(unsigned from, unsigned to) {
  if (arePartners(from, to)) {
    return {{from, to, false}};
  }
  std::vector<Hop> hops;
  unsigned at = from;
  if (from % 2 != to % 2) { // the other rail: cross first
    hops.push_back({at, at ^ 1U, true});
    at ^= 1U;
  }
  while (at != to) {
    const unsigned next = at < to ? at + 2 : at - 2;
    hops.push_back({at, next, true});
    at = next;
  }
  return hops;
}

} // namespace

std::uint64_t linkCycles(const internal::TargetData &target,
                         std::span<const IpuFlow> flows) {
  std::map<Hop, std::uint64_t> loads;
  std::size_t longest = 0;
  for (const IpuFlow &flow : flows) {
    const std::vector<Hop> hops = route(flow.from, flow.to);
    longest = std::max(longest, hops.size());
    for (const Hop &hop : hops) {
      loads[hop] += flow.bytes;
    }
  }
  double seconds = 0;
  for (const auto &[hop, bytes] : loads) {
    const unsigned links =
        hop.isTransit ? target.linksPerRail : target.linksToPairPartner;
    seconds = std::max(seconds, static_cast<double>(bytes) /
                                    (links * target.linkBytesPerSecond));
  }
  seconds += static_cast<double>(longest) * target.linkHopSeconds;
  return static_cast<std::uint64_t>(std::ceil(seconds * target.clockHz));
}

} // namespace poplar::model
