// The intrinsic functions of the IPU: none where __IPU__ is not defined, which
// it never is here. Codelets include this before they ask.
#pragma once

#include <ipudef.h>
