// How far a Sync reaches: the tiles of an IPU, all IPUs, or the host as well.
#pragma once

namespace poplar {

enum class SyncType { INTERNAL, EXTERNAL, GLOBAL };

} // namespace poplar
