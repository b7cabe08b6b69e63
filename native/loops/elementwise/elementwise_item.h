// Items of the family elementwise: some neighbouring elements of a result. Read by NVRTC too: no std headers.
#pragma once
#include "device/divide.h"
#include "device/element.h"
#include "device/launch.h"
#include "device/neighbour_elements.h"
#include "device/unroll.h"
#include "device/words.h"

namespace avida {

constexpr int kElementwiseDim = 16;  // axes of a sample

// The number of a type; -1 if elements are of no such type.
template <class T>
constexpr int kTypeNumber = -1;
#define AVIDA_X(NUMBER, T) \
  template <>              \
  constexpr int kTypeNumber<T> = NUMBER;
AVIDA_EACH_ELEMENT_TYPE(AVIDA_X)
#undef AVIDA_X

// What does not depend on the body is compiled once for all bodies on the CPU, and inlined on GPUs.
#ifdef __CUDACC__
#define AVIDA_SHARED AVIDA_HD __forceinline__
#else
#define AVIDA_SHARED __attribute__((noinline)) inline
#endif

template <int N>
struct ElementwiseParams {
  void* out;
  const void* in[N];
  long elements;
  int type[N], dims;  // dims 0: all elements as one axis
  long shape[kElementwiseDim], stride[N][kElementwiseDim];
};

// The inputs' values for one element.
template <class T, int N>
AVIDA_SHARED void load_one(const ElementwiseParams<N>& params, long element, T (&x)[N]) {
  long at[N];
  for (int k = 0; k < N; k++) at[k] = params.dims ? 0 : element * params.stride[k][0];
  long rest = element;
  for (int d = params.dims - 1; d >= 0; d--) {
    const long extent = params.shape[d];
    const long next = d == 0 ? 0 : divided(rest, extent).whole;
    for (int k = 0; k < N; k++) at[k] += (rest - next * extent) * params.stride[k][d];
    rest = next;
  }
  for (int k = 0; k < N; k++) x[k] = cast_element<T>(params.in[k], params.type[k], at[k]);
}

template <class Element, int n>
AVIDA_HD AVIDA_INLINE bool fits_neighbours(const void* data) {
  return reinterpret_cast<unsigned long>(data) % sizeof(NeighbourElements<Element, n>) == 0;
}

template <class From, class T, int n>
AVIDA_HD AVIDA_INLINE bool load_neighbours_as(const void* in, int type, long stride, long first, T (&x)[n]) {
  if (type != kTypeNumber<From>) return false;
  if (stride == 0) {  // one number for all
    const T number = static_cast<T>(*static_cast<const From*>(in));
    for (int i = 0; i < n; i++) x[i] = number;
    return true;
  }
  const From* from = static_cast<const From*>(in) + first;
  if (!fits_neighbours<From, n>(from)) return false;
  const auto all = *reinterpret_cast<const NeighbourElements<From, n>*>(from);
  for (int i = 0; i < n; i++) x[i] = static_cast<T>(all.at[i]);
  return true;
}

// An input's values for neighbouring elements, if it is of a usual type and aligned.
template <class T, int n>
AVIDA_SHARED bool load_neighbours(const void* in, int type, long stride, long first, T (&x)[n]) {
  if (load_neighbours_as<T>(in, type, stride, first, x)) return true;
  if constexpr (same_type<T, float> || same_type<T, int>) {
    if (load_neighbours_as<unsigned char>(in, type, stride, first, x)) return true;
    if constexpr (same_type<T, float>) return load_neighbours_as<int>(in, type, stride, first, x);
  }
  return false;
}

// An item is two pieces of kTogether elements, or what is left of them. T is the type to compute in, R that of the
// results.
template <class Body, int N, class T, class R>
struct ElementwiseItem {
  static constexpr const char* header = "loops/elementwise/elementwise_item.h";
  using Inner = Body;
  using Params = ElementwiseParams<N>;
  static constexpr bool of_bytes = sizeof(T) == 1 && sizeof(R) == 1;
  static constexpr int kTogether = of_bytes ? 16 : kNeighbours, kBlocks = of_bytes ? 5 : same_type<T, float> ? 4 : 0;

  AVIDA_HD AVIDA_INLINE static long items_for(long elements) {
    return pairs_of((elements + kTogether - 1) / kTogether);
  }

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    const long first[2] = {piece_of_pair(item, 0) * kTogether, piece_of_pair(item, 1) * kTogether};
    if (params.dims == 0 && first[1] + kTogether <= params.elements) {
      if constexpr (of_bytes) {
        if (make_bytes(params, first)) return;
      } else if constexpr (kTypeNumber<T> >= 0 && sizeof(T) <= 4) {  // wide ones need no help, and take long to compile
        if (make_all(params, first)) return;
      }
    }
    AVIDA_DO_NOT_UNROLL
    for (int k = 0; k < 2 * kTogether; k++) {
      const long i = piece_of_pair(item, k / kTogether) * kTogether + k % kTogether;
      if (i >= params.elements) continue;
      T x[N];
      load_one(params, i, x);
      static_cast<R*>(params.out)[i] = made_from(x);
    }
  }

 private:
  AVIDA_HD AVIDA_INLINE static R made_from(const T (&x)[N]) {
    if constexpr (N == 1)
      return static_cast<R>(Body::run(x[0]));
    else if constexpr (N == 2)
      return static_cast<R>(Body::run(x[0], x[1]));
    else
      return static_cast<R>(Body::run(x[0], x[1], x[2]));
  }

  // Bytes of bytes: they stay in words until they are computed with.
  AVIDA_HD AVIDA_INLINE static bool make_bytes(const Params& params, const long (&first)[2]) {
    auto* out = static_cast<unsigned char*>(params.out);
    bool fits = fits_neighbours<R, kTogether>(out);
    for (int k = 0; k < N; k++)
      fits = fits && params.type[k] == kTypeNumber<T> &&
             (params.stride[k][0] == 0 || fits_neighbours<T, kTogether>(params.in[k]));
    if (!fits) return false;
    AlignedWords<kTogether / 4> x[2][N];
    AVIDA_UNROLL
    for (int p = 0; p < 2 * N; p++) {
      const int k = p % N, piece = p / N;
      const auto* in = static_cast<const unsigned char*>(params.in[k]);
      if (params.stride[k][0] != 0)
        x[piece][k] = load_aligned<kTogether / 4>(in + first[piece]);
      else
        for (unsigned& word : x[piece][k].at) word = *in * 0x01010101u;  // one number for all
    }
    AVIDA_UNROLL
    for (int p = 0; p < 2; p++) {
      AlignedWords<kTogether / 4> made;
      AVIDA_UNROLL
      for (int w = 0; w < kTogether / 4; w++) {
        unsigned char bytes[4];
        AVIDA_UNROLL
        for (int b = 0; b < 4; b++) {
          T each[N];
          for (int k = 0; k < N; k++) each[k] = static_cast<T>(static_cast<unsigned char>(x[p][k].at[w] >> 8 * b));
          bytes[b] = static_cast<unsigned char>(made_from(each));
        }
        made.at[w] = word_of(bytes[0], bytes[1], bytes[2], bytes[3]);
      }
      store_aligned(out + first[p], made);
    }
    return true;
  }

  AVIDA_HD AVIDA_INLINE static bool make_all(const Params& params, const long (&first)[2]) {
    R* out = static_cast<R*>(params.out);
    T x[2][N][kTogether];
    bool loaded = fits_neighbours<R, kTogether>(out);
    AVIDA_UNROLL
    for (int p = 0; p < 2; p++) {
      AVIDA_UNROLL
      for (int k = 0; k < N; k++)
        loaded = loaded && load_neighbours(params.in[k], params.type[k], params.stride[k][0], first[p], x[p][k]);
    }
    if (!loaded) return false;
    AVIDA_UNROLL
    for (int p = 0; p < 2; p++) {
      NeighbourElements<R, kTogether> made;
      AVIDA_UNROLL
      for (int i = 0; i < kTogether; i++) {
        T each[N];
        for (int k = 0; k < N; k++) each[k] = x[p][k][i];
        made.at[i] = made_from(each);
      }
      *reinterpret_cast<NeighbourElements<R, kTogether>*>(out + first[p]) = made;
    }
    return true;
  }
};
#undef AVIDA_SHARED

}  // namespace avida
