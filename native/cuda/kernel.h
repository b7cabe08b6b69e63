// Bodies that a GPU can run: see kernel/launch.h.
#pragma once
#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kernel/launch.h"

namespace avida {

// A body that becomes a kernel when it is first needed. Bodies register themselves when the library is loaded.
struct Kernel {
  std::string_view body;  // its type in C++
  std::vector<std::string_view> headers;
  int block_threads;               // that make an item together; 0: each thread makes its own
  size_t bytes;                    // of Items
  void (*run)(const void* items);  // makes them on the CPU
  bool usual;                      // most training loops need it: see kernel/launch.h
  int number;                      // counts kernels
};
const std::vector<const Kernel*>& kernels();
const Kernel* register_kernel(Kernel kernel);

template <class T>
consteval std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("T = ") + 4);
  return text.substr(0, text.find_first_of(";]"));
}

template <class Body>
struct KernelOf {
  static_assert(std::is_trivially_copyable_v<typename Body::Params>);
  static_assert(type_name<Body>().find("anonymous") == std::string_view::npos,
                "kernels are compiled from headers alone");
  static constexpr bool in_blocks = requires { Body::kPhases; };
  static inline const Kernel* const kernel = register_kernel({
      type_name<Body>(),
      [] {
        if constexpr (requires { Body::Inner::header; })
          return std::vector<std::string_view>{Body::header, Body::Inner::header};
        else
          return std::vector<std::string_view>{Body::header};
      }(),
      [] {
        if constexpr (in_blocks)
          return Body::kThreads;
        else
          return 0;
      }(),
      sizeof(Items<Body>),
      [](const void* items) {
        auto& [first, count, params] = *static_cast<const Items<Body>*>(items);
        if constexpr (in_blocks) {
          auto shared = std::make_unique<typename Body::Shared>();
          for (long i = 0; i < count; i++) run_phases<Body>(params, *shared, first + i);
        } else {
          for (long i = 0; i < count; i++) Body::run(params, first + i);
        }
      },
      [] {
        if constexpr (requires { Body::kUsual; })
          return Body::kUsual;
        else
          return false;
      }(),
      0,
  });
};

}  // namespace avida
