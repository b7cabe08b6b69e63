#include "loops/pixels/vbmi.h"

#include <cstdlib>
#include <string_view>

namespace avida {

bool has_vbmi() {
#if defined(__x86_64__)
  static const bool found = [] {
    const char* given = std::getenv("AVIDA_VBMI");
    return (!given || std::string_view(given) != "off") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
  }();
  return found;
#else
  return false;
#endif
}

}  // namespace avida
