// The element types that have kernels of their own; others share one.
#pragma once
#include "core/dtype.h"
#include "device/element.h"

namespace avida {

// Calls fn(Type<To>{}, Type<From>{}) with the types if both are common ones, else with AnyElement for both: a kernel
// for every pair would be too many.
template <class Fn>
void with_kernel_types(DType to, DType from, Fn&& fn) {
  auto with_common = [](DType dtype, auto&& use) {
    switch (dtype) {
      case DType::uint8:
        return use(Type<uint8_t>{});
      case DType::float16:
        return use(Type<float16>{});
      case DType::float32:
        return use(Type<float>{});
      default:
        return false;
    }
  };
  const bool common = with_common(to, [&](auto to_type) {
    return with_common(from, [&](auto from_type) {
      fn(to_type, from_type);
      return true;
    });
  });
  if (!common) fn(Type<AnyElement>{}, Type<AnyElement>{});
}

}  // namespace avida
