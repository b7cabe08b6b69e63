#include "loops/moving/convert_run.h"

#include "core/clones.h"
#include "core/rows.h"

namespace avida {
namespace {

// Loops over bool do not vectorise, those over bytes do.
template <class T>
struct Stored {
  using type = T;
  static T load(T value) { return value; }
};
template <>
struct Stored<bool> {
  using type = uint8_t;
  static int16_t load(uint8_t byte) { return static_cast<int16_t>((byte + 255) >> 8); }  // 1 for anything but 0
};

// What most loaders convert; other pairs of types are not worth several versions each.
AVIDA_CLONES void bytes_to_floats(float* __restrict out, const uint8_t* __restrict in, int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = in[i];
}

template <bool rounds, class To, class From>
void convert_run(void* out_data, const void* in_data, int64_t n) {
  if constexpr (std::is_same_v<To, From>) {
    if (n) copy_row(out_data, in_data, n * sizeof(To));  // without elements both may be null
  } else if constexpr (std::is_same_v<To, float> && std::is_same_v<From, uint8_t>) {
    bytes_to_floats(static_cast<float*>(out_data), static_cast<const uint8_t*>(in_data), n);
  } else if constexpr (!rounds && !TypeTraits<From>::is_float && !TypeTraits<To>::is_float) {
    convert_run<true, To, From>(out_data, in_data, n);  // there are no fractions
  } else {
    auto* __restrict out = static_cast<To*>(out_data);
    auto* __restrict in = static_cast<const typename Stored<From>::type*>(in_data);
    for (int64_t i = 0; i < n; i++) out[i] = convert_element<rounds, To>(Stored<From>::load(in[i]));
  }
}

template <bool rounds>
ConvertRun find(DType to, DType from) {
  return with_dtype(to, [&](auto to_type) {
    return with_dtype(from, [&](auto from_type) -> ConvertRun {
      return convert_run<rounds, typename decltype(to_type)::type, typename decltype(from_type)::type>;
    });
  });
}

}  // namespace

ConvertRun rounding_run(DType to, DType from) { return find<true>(to, from); }
ConvertRun truncating_run(DType to, DType from) { return find<false>(to, from); }

}  // namespace avida
