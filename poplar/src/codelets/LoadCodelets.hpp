// Loads the shared objects of a codelet file and reads what they say of their
// vertices.
#pragma once

#include "codelets/Codelets.hpp"

#include <string>

namespace poplar::codelets {

// `name` is the file's, for messages. Throws graph_object_load_error.
CodeletFilePtr loadCodelets(const std::string &name, std::string bytes);

} // namespace poplar::codelets
