// How the links between IPUs are routed.
#pragma once

namespace poplar {

enum class IpuLinkConfiguration { Default, BarleyTwist, SlidingWindow };

} // namespace poplar
