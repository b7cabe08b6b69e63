// Bodies that a GPU can run: see device/launch.h.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "device/launch.h"

namespace avida {

// A body that is compiled to a kernel on first use. Bodies register themselves when the library is loaded.
struct Kernel {
  std::string_view body;  // its type in C++
  std::span<const std::string_view> headers;
  int block_threads;               // that make an item together; 0: each thread makes its own
  size_t bytes;                    // of Items
  void (*run)(const void* items);  // makes them on the CPU
  bool usual;                      // most training loops need it: see device/launch.h
  int number;                      // counts kernels
};
const std::vector<const Kernel*>& kernels();
const Kernel* register_kernel(Kernel& kernel);

template <class T>
consteval std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("T = ") + 4);
  return text.substr(0, text.find_first_of(";]"));
}

template <class Body>
inline constexpr std::string_view kHeadersOf[] = {Body::header};
template <class Body>
  requires requires { Body::Inner::header; }
inline constexpr std::string_view kHeadersOf<Body>[] = {Body::header, Body::Inner::header};

template <class Body>
class KernelOf {
  static_assert(std::is_trivially_copyable_v<typename Body::Params>);
  static_assert(type_name<Body>().find("anonymous") == std::string_view::npos,
                "kernels are compiled from headers alone");
  static constexpr bool in_blocks = requires { Body::kPhases; };

  static consteval int block_threads() {
    if constexpr (in_blocks)
      return Body::kThreads;
    else
      return 0;
  }
  static consteval bool is_usual() {
    if constexpr (requires { Body::kUsual; })
      return Body::kUsual;
    else
      return false;
  }
  [[gnu::cold]] static void run(const void* data) {  // only where a GPU is emulated: not worth the compiler's time
    auto& [first, count, params] = *static_cast<const Items<Body>*>(data);
    if constexpr (in_blocks) {
      auto shared = std::make_unique<typename Body::Shared>();
      for (long i = 0; i < count; i++) run_phases<Body>(params, *shared, first + i);
    } else {
      for (long i = 0; i < count; i++) Body::run(params, first + i);
    }
  }

  static inline constinit Kernel described_{
      type_name<Body>(), kHeadersOf<Body>, block_threads(), sizeof(Items<Body>), run, is_usual(), 0};

 public:
  static inline const Kernel* const kernel = register_kernel(described_);
};

}  // namespace avida
