// How the links between IPUs are laid out.
#pragma once

namespace poplar {

enum class IpuLinkTopology {
  Mesh,  // a ladder with open ends
  Torus, // a ladder whose ends are joined
  Line,
};

} // namespace poplar
