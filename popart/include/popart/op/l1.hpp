// The L1 loss, which programs include beside the Builder that adds it.
#pragma once

#include <popart/op.hpp>
#include <popart/operators.hpp>
#include <popart/sessionoptions.hpp>
