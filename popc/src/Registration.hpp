// The code that popc adds to a source: it describes the source's vertices to
// the host by means of poplar/popc/Register.hpp.
#pragma once

#include "Reflection.hpp"

#include <string>

namespace popc {

// Exports the table number `table`.
std::string registrationCode(const std::vector<VertexClass> &classes,
                             bool isPrinting, unsigned table);

} // namespace popc
