// The names of operators, under the header's name of earlier releases.
#pragma once

#include <popart/operators.hpp>
