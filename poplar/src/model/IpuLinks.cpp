// The links between IPUs, as bandwidth caps on hops and gateways.
#include "model/IpuLinks.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace poplar::model {

namespace {

using internal::TargetData;
using Bytes = std::vector<std::uint64_t>;

// Bytes over the hops of one direction of all rails; a hop is named by where it
// starts. A way over many hops is noted at its ends alone, so that a flow costs
// the same however far it goes.
class HopLoads {
public:
  // Rails of `length` hops, one after another.
  HopLoads(unsigned rails, unsigned length)
      : length_(length), steps_(std::size_t{rails} * (length + 1), 0) {}

  // Hops [begin, end) of a rail; past its end they go on at its beginning.
  void add(unsigned rail, unsigned begin, unsigned end, std::uint64_t bytes) {
    addRange(rail, begin, std::min(end, length_), bytes);
    if (end > length_) {
      addRange(rail, 0, end - length_, bytes);
    }
  }

  std::uint64_t busiest() const {
    std::uint64_t load = 0;
    std::uint64_t most = 0;
    for (const std::uint64_t step : steps_) {
      load += step;
      most = std::max(most, load);
    }
    return most;
  }

private:
  void addRange(unsigned rail, unsigned begin, unsigned end,
                std::uint64_t bytes) {
    std::uint64_t *steps = &steps_[std::size_t{rail} * (length_ + 1)];
    steps[begin] += bytes;
    steps[end] -= bytes; // modulo 2^64: the differences cancel
  }

  unsigned length_;
  Bytes steps_; // differences; each rail has one entry more than hops
};

std::uint64_t busiestOf(const Bytes &loads) {
  return loads.empty() ? 0 : *std::max_element(loads.begin(), loads.end());
}

// A machine may lack links that nothing uses.
double secondsOf(std::uint64_t bytes, double bytesPerSecond) {
  return bytes == 0 ? 0 : static_cast<double>(bytes) / bytesPerSecond;
}

class LinkLoads {
public:
  LinkLoads(const TargetData &target, unsigned ipus)
      : target_(target),
        domainSize_(std::max(1U, std::min(target.ipuLinkDomainSize, ipus))),
        domains_((ipus + domainSize_ - 1) / domainSize_),
        columns_(target.ipuLinkTopology == IpuLinkTopology::Line ? 1 : 2),
        rungs_((domainSize_ + columns_ - 1) / columns_),
        up_(domains_ * columns_, rungs_), down_(domains_ * columns_, rungs_),
        partner_(ipuSlots(), 0), crossing_(ipuSlots(), 0) {}

  void add(const IpuFlow &flow) {
    if (domainOf(flow.from) != domainOf(flow.to)) {
      addBetweenDomains(flow);
    } else if (flow.from != flow.to) {
      addInDomain(flow);
    }
  }

  double seconds() const {
    const double link = target_.linkBytesPerSecond;
    const double rail = target_.linksPerRail * link;
    const double busiest = std::max(
        {secondsOf(std::max(up_.busiest(), down_.busiest()), rail),
         secondsOf(busiestOf(crossing_), rail),
         secondsOf(busiestOf(partner_), target_.linksToPairPartner * link),
         secondsOf(std::max(busiestOf(gatewayOut_), busiestOf(gatewayIn_)),
                   target_.gatewayBytesPerSecond)});
    return busiest + std::max(mostHops_ * target_.linkHopSeconds,
                              mostGateways_ * target_.gatewayHopSeconds);
  }

private:
  unsigned ipuSlots() const { return domains_ * columns_ * rungs_; }
  unsigned domainOf(unsigned ipu) const { return ipu / domainSize_; }
  bool isRing() const {
    return target_.ipuLinkTopology == IpuLinkTopology::Torus;
  }

  // Partners use all links of their rung. Other traffic crosses it first, if it
  // must, on the links of a rail, and then goes along the rail.
  void addInDomain(const IpuFlow &flow) {
    const unsigned domain = domainOf(flow.from);
    const unsigned from = flow.from % domainSize_;
    const unsigned to = flow.to % domainSize_;
    const unsigned slot = domain * columns_ * rungs_ + from;
    if (from / columns_ == to / columns_) {
      partner_[slot] += flow.bytes;
      mostHops_ = std::max(mostHops_, 1U);
      return;
    }
    unsigned hops = 0;
    if (from % columns_ != to % columns_) {
      crossing_[slot] += flow.bytes;
      hops = 1;
    }
    hops += addAlongRail(domain * columns_ + to % columns_, from / columns_,
                         to / columns_, flow.bytes);
    mostHops_ = std::max(mostHops_, hops);
  }

  // The number of hops. On a ring the shorter way, up when both are equal.
  unsigned addAlongRail(unsigned rail, unsigned from, unsigned to,
                        std::uint64_t bytes) {
    const unsigned upwards = (to + rungs_ - from) % rungs_;
    const bool isUp = isRing() ? upwards <= rungs_ - upwards : from < to;
    if (isUp) {
      up_.add(rail, from, from + upwards, bytes);
      return upwards;
    }
    const unsigned downwards = rungs_ - upwards;
    const unsigned last = (to + 1) % rungs_;
    down_.add(rail, last, last + downwards, bytes);
    return downwards;
  }

  // Every IPU has its share of its machine's gateway. The domains form a ring.
  void addBetweenDomains(const IpuFlow &flow) {
    gatewayOut_.resize(std::size_t{domains_} * domainSize_);
    gatewayIn_.resize(gatewayOut_.size());
    gatewayOut_[flow.from] += flow.bytes;
    gatewayIn_[flow.to] += flow.bytes;
    const unsigned onwards =
        (domainOf(flow.to) + domains_ - domainOf(flow.from)) % domains_;
    mostGateways_ =
        std::max(mostGateways_, std::min(onwards, domains_ - onwards));
  }

  const TargetData &target_;
  unsigned domainSize_;
  unsigned domains_;
  unsigned columns_; // rails of a domain
  unsigned rungs_;   // of a domain
  HopLoads up_;      // from rung to rung, by rail
  HopLoads down_;
  Bytes partner_;  // by the IPU that sends to its partner
  Bytes crossing_; // by the IPU whose rung is crossed
  Bytes gatewayOut_;
  Bytes gatewayIn_;
  unsigned mostHops_ = 0;
  unsigned mostGateways_ = 0;
};

} // namespace

std::uint64_t linkCycles(const TargetData &target, unsigned ipus,
                         std::span<const IpuFlow> flows) {
  LinkLoads loads(target, ipus);
  for (const IpuFlow &flow : flows) {
    loads.add(flow);
  }
  constexpr double roundingError = 1e-6; // makes no whole cycle
  return static_cast<std::uint64_t>(
      std::ceil(loads.seconds() * target.clockHz - roundingError));
}

} // namespace poplar::model
