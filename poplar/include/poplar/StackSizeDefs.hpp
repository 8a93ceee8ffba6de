// How much stack codelets' functions need, where the machine's compiler cannot
// tell. A host's stack is large enough, so these say nothing here.
#pragma once

#define DEF_STACK_USAGE(size, function)
#define DEF_STACK_SIZE_OWN(size, function)
#define DEF_FUNC_CALL_PTRS(function, callees)
