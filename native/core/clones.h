// AVIDA_CLONES before a function: compiled for several instruction sets, the best chosen when the library is loaded.
// What it calls must be inlined (AVIDA_INLINE) to be compiled so too.
#pragma once

// Choosing happens before a sanitizer is ready for it.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define AVIDA_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define AVIDA_CLONES
#endif
