// What differs between compilers, behind one spelling.
#pragma once

// Before a declaration: using it makes the compiler print `message`.
#define GC_DEPRECATED(message) __attribute__((deprecated(message)))
