// AVIDA_CLONES before a function: compiled for several instruction sets, the best chosen when the library is loaded.
// Functions that it calls are only covered if they are inlined (AVIDA_INLINE). A build for this machine alone
// (AVIDA_VECTORS in CMakeLists.txt) has them once, for what the machine can do.
#pragma once
#include "machine.h"

// The selection runs before a sanitizer is initialised.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define AVIDA_CLONES AVIDA_CLONED
#else
#define AVIDA_CLONES
#endif

// The same before a function template, for which Clang cannot do it: there it is compiled once.
#ifdef __clang__
#define AVIDA_TEMPLATE_CLONES
#else
#define AVIDA_TEMPLATE_CLONES AVIDA_CLONES
#endif
