// How options and files call the ways that IPUs are linked.
#pragma once

#include <poplar/IpuLinkConfiguration.hpp>
#include <poplar/IpuLinkTopology.hpp>

#include <array>
#include <string_view>
#include <utility>

namespace poplar::internal {

template <typename Value, std::size_t size>
using NamedValues = std::array<std::pair<std::string_view, Value>, size>;

inline constexpr NamedValues<IpuLinkTopology, 3> topologyNames = {
    {{"Mesh", IpuLinkTopology::Mesh},
     {"Torus", IpuLinkTopology::Torus},
     {"Line", IpuLinkTopology::Line}}};

inline constexpr NamedValues<IpuLinkConfiguration, 3> linkConfigurationNames = {
    {{"Default", IpuLinkConfiguration::Default},
     {"BarleyTwist", IpuLinkConfiguration::BarleyTwist},
     {"SlidingWindow", IpuLinkConfiguration::SlidingWindow}}};

} // namespace poplar::internal
