// createOutputForElementWiseOp(), where programs look for it.
#pragma once

#include <popops/ElementWise.hpp>
