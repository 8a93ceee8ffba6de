// What codelets ask of the host while they run: see poplar/popc/Table.hpp.
#pragma once

#include <poplar/popc/Table.hpp>

namespace poplar::codelets {

const popc::Host &hostHooks();

} // namespace poplar::codelets
