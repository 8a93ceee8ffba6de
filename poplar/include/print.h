// printf for codelets. What they print goes to the engine's print stream.
#pragma once

#include <stdio.h>
