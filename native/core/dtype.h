// Element types. The numbers are those of the API, which scripts may have stored.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/error.h"
#include "device/convert.h"

namespace avida {

enum class DType : int8_t {
  none = -1,
  uint8 = 0,
  uint16 = 1,
  uint32 = 2,
  uint64 = 3,
  int8 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  float16 = 8,
  float32 = 9,
  float64 = 10,
  boolean = 11,
  bfloat16 = 12,
  // Values of the API's enums: 32-bit integers that are moved and cast, but not computed with.
  image_type = 13,
  data_type = 14,
  interp_type = 15,
};

// X(C++ type, DType member, public name) for every element type of numbers.
#define AVIDA_EACH_DTYPE(X)      \
  X(uint8_t, uint8, "uint8")     \
  X(uint16_t, uint16, "uint16")  \
  X(uint32_t, uint32, "uint32")  \
  X(uint64_t, uint64, "uint64")  \
  X(int8_t, int8, "int8")        \
  X(int16_t, int16, "int16")     \
  X(int32_t, int32, "int32")     \
  X(int64_t, int64, "int64")     \
  X(float16, float16, "float16") \
  X(float, float32, "float32")   \
  X(double, float64, "float64")  \
  X(bool, boolean, "bool")       \
  X(bfloat16, bfloat16, "bfloat16")

constexpr int kDTypeCount = 13;  // of numbers; enums follow
constexpr int kAllDTypeCount = 16;

template <class T>
constexpr DType dtype_of = DType::none;
#define AVIDA_X(T, M, N) \
  template <>            \
  inline constexpr DType dtype_of<T> = DType::M;
AVIDA_EACH_DTYPE(AVIDA_X)
#undef AVIDA_X

int size_of(DType dtype);
std::string_view name_of(DType dtype);
bool is_float(DType dtype);
bool is_signed(DType dtype);
inline bool is_enum(DType dtype) { return dtype >= DType::image_type; }
inline bool is_integer(DType dtype) {
  return dtype != DType::none && !is_float(dtype) && dtype != DType::boolean && !is_enum(dtype);
}
// The numbers that elements of this type are in memory.
inline DType stored_as(DType dtype) { return is_enum(dtype) ? DType::int32 : dtype; }

inline std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name_of(dtype); }

template <class T>
struct Type {
  using type = T;
};

// Calls fn(Type<T>{}) with the C++ type of `dtype`.
template <class Fn>
decltype(auto) with_dtype(DType dtype, Fn&& fn) {
  switch (dtype) {
#define AVIDA_X(T, M, N) \
  case DType::M:         \
    return fn(Type<T>{});
    AVIDA_EACH_DTYPE(AVIDA_X)
#undef AVIDA_X
    default:
      break;
  }
  refuse("expected an element type of numbers, got ", dtype);
}

// Calls fn(Type<T>{}) with an unsigned type of the same size, for operators that only move elements.
template <class Fn>
decltype(auto) with_size_of(DType dtype, Fn&& fn) {
  switch (size_of(dtype)) {
    case 1:
      return fn(Type<uint8_t>{});
    case 2:
      return fn(Type<uint16_t>{});
    case 4:
      return fn(Type<uint32_t>{});
    default:
      return fn(Type<uint64_t>{});
  }
}

}  // namespace avida
