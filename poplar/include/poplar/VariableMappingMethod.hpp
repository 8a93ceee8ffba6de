// How addVariable() maps a new variable to tiles.
#pragma once

namespace poplar {

enum class VariableMappingMethod {
  NONE,   // left to the program
  LINEAR, // in element order, evenly over all tiles
};

} // namespace poplar
