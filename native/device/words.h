// Loads and stores of 32-bit words at any address. The byte order is little-endian.
#pragma once
#include "device/macros.h"
#include "device/packed.h"
#include "device/unroll.h"

namespace avida {

AVIDA_HD AVIDA_INLINE unsigned long address_of(const void* data) { return reinterpret_cast<unsigned long>(data); }

// ---- Reading --------------------------------------------------------------------------------------------------------

// Reads GPU memory that no thread writes while the kernel runs (__ldg). All functions below use it.
template <class T>
AVIDA_HD AVIDA_INLINE T read_only(const T* from) {
#ifdef __CUDA_ARCH__
  return __ldg(from);
#else
  return *from;
#endif
}

// A GPU reads the aligned words that contain the bytes, since memory is allocated in whole words. The address is a
// multiple of `known`; the last `spare` bytes are undefined.
template <int known = 1, int spare = 0, int n>
AVIDA_HD AVIDA_INLINE void load_words(const void* from, unsigned (&to)[n]) {
#ifdef __CUDA_ARCH__
  if (n % 4 == 0 && spare == 0 && address_of(from) % 16 == 0) {
    AVIDA_UNROLL
    for (int k = 0; k < n / 4; k++) {
      const uint4 four = read_only(static_cast<const uint4*>(from) + k);
      to[4 * k] = four.x, to[(4 * k + 1) % n] = four.y, to[(4 * k + 2) % n] = four.z, to[(4 * k + 3) % n] = four.w;
    }
    return;
  }
  const unsigned over = known % 4 ? address_of(from) % 4 : 0, shift = 8 * over;
  const auto* words =
      known % 4 ? reinterpret_cast<const unsigned*>(address_of(from) & ~3ul) : static_cast<const unsigned*>(from);
  AVIDA_UNROLL
  for (int k = 0; k < n; k++) to[k] = read_only(words + k);
  const unsigned last = over > spare ? read_only(words + n) : 0;
  AVIDA_UNROLL
  for (int k = 0; k < n; k++) to[k] = __funnelshift_r(to[k], k + 1 < n ? to[k + 1] : last, shift);
#else
  to[n - 1] = 0;
  __builtin_memcpy(to, from, sizeof(to) - spare);
#endif
}

// n bytes, a multiple of four.
template <int n>
AVIDA_HD AVIDA_INLINE void load_bytes(const void* from, unsigned char (&to)[n]) {
  static_assert(n % 4 == 0);
  unsigned words[n / 4];
  load_words(from, words);
  AVIDA_UNROLL
  for (int k = 0; k < n; k++) to[k] = static_cast<unsigned char>(part_of<1>(words, k));
}

// The bytes of repeating elements, from element i of `count` on.
template <class T, int n>
AVIDA_HD AVIDA_INLINE void load_repeated(const T* from, long i, long count, unsigned char (&to)[n]) {
  AVIDA_UNROLL
  for (int k = 0; k < n; k += sizeof(T)) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(from + i);
    for (int b = 0; b < static_cast<int>(sizeof(T)); b++) to[k + b] = bytes[b];
    i = i + 1 == count ? 0 : i + 1;
  }
}

// ---- Writing --------------------------------------------------------------------------------------------------------

// Stores as many words at once as the alignment allows; the address is a multiple of `known`. Compilers would split
// plain assignments of several words.
template <int known = 1, int n>
AVIDA_HD AVIDA_INLINE void store_words(void* to, const unsigned (&from)[n]) {
#ifdef __CUDA_ARCH__
  if (n % 4 == 0 && (known % 16 == 0 || address_of(to) % 16 == 0)) {
    AVIDA_UNROLL
    for (int k = 0; k < n / 4; k++)
      asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(static_cast<uint4*>(to) + k), "r"(from[4 * k]),
                   "r"(from[(4 * k + 1) % n]), "r"(from[(4 * k + 2) % n]), "r"(from[(4 * k + 3) % n])
                   : "memory");
  } else if (n % 2 == 0 && (known % 8 == 0 || address_of(to) % 8 == 0)) {
    AVIDA_UNROLL
    for (int k = 0; k < n / 2; k++)
      asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(static_cast<uint2*>(to) + k), "r"(from[2 * k]),
                   "r"(from[(2 * k + 1) % n])
                   : "memory");
  } else if (known % 4 == 0 || address_of(to) % 4 == 0) {
    AVIDA_UNROLL
    for (int k = 0; k < n; k++) static_cast<unsigned*>(to)[k] = from[k];
  } else {
    AVIDA_UNROLL
    for (int k = 0; k < 4 * n; k++)
      static_cast<unsigned char*>(to)[k] = static_cast<unsigned char>(from[k / 4] >> k % 4 * 8);
  }
#else
  __builtin_memcpy(to, from, sizeof(from));
#endif
}

// n bytes, a multiple of four.
template <int known = 1, int n>
AVIDA_HD AVIDA_INLINE void store_bytes(void* to, const unsigned char (&from)[n]) {
  static_assert(n % 4 == 0);
  unsigned words[n / 4];
  AVIDA_UNROLL
  for (int k = 0; k < n / 4; k++) words[k] = word_of(from[4 * k], from[4 * k + 1], from[4 * k + 2], from[4 * k + 3]);
  store_words<known>(to, words);
}

// The first `count` bytes of words.
template <int n>
AVIDA_HD AVIDA_INLINE void store_some_bytes(unsigned char* to, const unsigned (&words)[n], int count) {
  if (count == 4 * n) return store_words(to, words);
  AVIDA_UNROLL
  for (int k = 0; k < 4 * n; k++)
    if (k < count) to[k] = static_cast<unsigned char>(part_of<1>(words, k));
}

// The bytes of words from `begin` to `end`, as far as there are any, to their places from `to` on.
template <int n>
AVIDA_HD AVIDA_INLINE void store_bytes_between(unsigned char* to, const unsigned (&words)[n], int begin, int end) {
  begin = begin > 0 ? begin : 0;
  end = end < 4 * n ? end : 4 * n;
#ifdef __CUDA_ARCH__
  const int over = static_cast<int>(address_of(to) % 4);
  if ((over | begin | end) % 4 == 0) {
    if (end - begin == 4 * n) return store_words<4>(to, words);
    AVIDA_UNROLL
    for (int k = 0; k < n; k++)
      if (4 * k >= begin && 4 * k < end) reinterpret_cast<unsigned*>(to)[k] = words[k];
    return;
  }
  to -= over;
  begin += over;
  end += over;
  unsigned first = 0, last = 0;  // the words of which only some bytes may be stored
  AVIDA_UNROLL
  for (int k = 0; k <= n; k++) {
    const unsigned word = __funnelshift_l(k > 0 ? words[k - 1] : 0, k < n ? words[k] : 0, 8 * over);
    if (4 * k >= begin && 4 * k + 4 <= end) reinterpret_cast<unsigned*>(to)[k] = word;
    if (4 * k <= begin) first = word;
    if (4 * k <= end) last = word;
  }
  AVIDA_UNROLL
  for (int b = 0; b < 4; b++) {
    const int in_first = begin / 4 * 4 + b, in_last = end / 4 * 4 + b;
    if (in_first >= begin && in_first < end) to[in_first] = static_cast<unsigned char>(first >> 8 * b);
    if (in_last >= begin && in_last < end) to[in_last] = static_cast<unsigned char>(last >> 8 * b);
  }
#else
  __builtin_memcpy(to + begin, reinterpret_cast<const unsigned char*>(words) + begin,
                   static_cast<unsigned long>(end - begin));
#endif
}

// The same, where neighbouring threads store neighbouring words and most of them all: four words at once, wherever `to`
// lies, some of which are the next thread's. Single words take four times as long.
template <int n>
AVIDA_HD AVIDA_INLINE void store_bytes_together(unsigned char* to, const unsigned (&words)[n], int begin, int end) {
#ifdef __CUDA_ARCH__
  static_assert(n % 4 == 0);
  const unsigned here = __activemask(), lane = threadIdx.x % 32;
  const bool whole = begin <= 0 && end >= 4 * n;
  const unsigned place = static_cast<unsigned>(address_of(to)),
                 known = whole ? place : 1;  // not a place of 4 * n bytes
  unsigned all[n + 4];
  AVIDA_UNROLL
  for (int k = 0; k < n; k++) all[k] = words[k];
  AVIDA_UNROLL
  for (int k = 0; k < 4; k++) all[n + k] = __shfl_down_sync(here, words[k], 1);
  const unsigned before = __shfl_up_sync(here, known, 1), after = __shfl_down_sync(here, known, 1);
  if (!whole) return store_bytes_between(to, words, begin, end);
  const bool follows = lane > 0 && (here >> (lane - 1) & 1) && before + 4 * n == place;
  const bool goes_on = lane < 31 && (here >> lane >> 1 & 1) && after == place + 4 * n;
  const unsigned first = -place & 15;  // bytes up to a multiple of 16, which the thread before stores
  if (first && !follows) store_bytes_between(to, words, 0, static_cast<int>(first));
  AVIDA_UNROLL
  for (int k = 0; k < n + 3; k++) all[k] = first & 4 ? all[k + 1] : all[k];
  AVIDA_UNROLL
  for (int k = 0; k < n + 2; k++) all[k] = first & 8 ? all[k + 2 < n + 4 ? k + 2 : 0] : all[k];
  unsigned made[n];
  AVIDA_UNROLL
  for (int k = 0; k < n; k++) made[k] = __funnelshift_r(all[k], all[k + 1], first % 4 * 8);
  auto* fours = reinterpret_cast<uint4*>(to + first);
  AVIDA_UNROLL
  for (int k = 0; k < n / 4; k++)
    if (k + 1 < n / 4 || first == 0 || goes_on)
      fours[k] = make_uint4(made[4 * k], made[4 * k + 1], made[4 * k + 2], made[4 * k + 3]);
  if (first && !goes_on) store_bytes_between(to, words, 4 * n - 16 + static_cast<int>(first), 4 * n);
#else
  store_bytes_between(to, words, begin, end);
#endif
}

// Copies n elements of one type, in words.
template <class T, int n>
struct Elements {
  T at[n];
};
template <int n, class T>
AVIDA_HD AVIDA_INLINE Elements<T, n> load_elements(const T* from) {
  Elements<unsigned, n * sizeof(T) / 4> words;
  load_words<sizeof(T)>(from, words.at);
  return __builtin_bit_cast(Elements<T, n>, words);
}
template <class T, int n>
AVIDA_HD AVIDA_INLINE void store_elements(T* to, const Elements<T, n>& elements) {
  store_words<sizeof(T)>(to, __builtin_bit_cast(Elements<unsigned, n * sizeof(T) / 4>, elements).at);
}

// ---- Alignment ------------------------------------------------------------------------------------------------------

// Words that are moved at once: the address is aligned to their total size.
template <int n>
struct alignas(4 * n) AlignedWords {
  unsigned at[n];
};
template <int n>
AVIDA_HD AVIDA_INLINE AlignedWords<n> load_aligned(const void* from) {
#ifdef __CUDA_ARCH__
  return *static_cast<const AlignedWords<n>*>(from);
#else
  AlignedWords<n> words;
  __builtin_memcpy(&words, from, sizeof(words));
  return words;
#endif
}
template <int n>
AVIDA_HD AVIDA_INLINE void store_aligned(void* to, const AlignedWords<n>& words) {
#ifdef __CUDA_ARCH__
  *static_cast<AlignedWords<n>*>(to) = words;
#else
  __builtin_memcpy(to, &words, sizeof(words));
#endif
}

// Stores element i of an array of 16-bit halves in words; other threads may write the other half of the word.
AVIDA_HD AVIDA_INLINE void store_half(unsigned* words, int i, unsigned number) {
#ifdef __CUDA_ARCH__
  reinterpret_cast<unsigned short*>(words)[i] = static_cast<unsigned short>(number);
#else
  __builtin_memcpy(reinterpret_cast<char*>(words) + 2 * i, &number, 2);
#endif
}

// The number of elements (of `size` bytes) by which an aligned piece of `most` elements starts before `row`, so that
// its address is a multiple of `aligned` bytes; 0 if there is none.
template <int size, int aligned, int most>
AVIDA_HD AVIDA_INLINE int lead_of(const void* row) {
  const int over = static_cast<int>(address_of(row) % aligned);
  if constexpr (aligned % size == 0) return over / size;
  int lead = 0;
  for (int l = most - 1; l >= 0; l--)
    if ((over + (aligned - 1) * size * l) % aligned == 0) lead = l;
  return lead;
}
// The maximum number of such pieces that n elements span.
AVIDA_HD AVIDA_INLINE long pieces_of(long n, int piece) { return n ? (n + 2 * (piece - 1)) / piece : 0; }

// Calls each(i) for the elements of a piece, from `first` on, that are within 0 ... elements - 1.
template <int piece, class Index, class Each>
AVIDA_HD AVIDA_INLINE void each_of_piece(Index first, Index elements, const Each& each) {
  const Index end = first + piece < elements ? first + piece : elements;
  AVIDA_DO_NOT_UNROLL
  for (Index i = first > 0 ? first : 0; i < end; i++) each(i);
}
// The same, or whole() if all elements are within.
template <int piece, class Index, class Whole, class Each>
AVIDA_HD AVIDA_INLINE void make_piece(Index first, Index elements, const Whole& whole, const Each& each) {
  if (first >= 0 && first + piece <= elements)
    whole();
  else
    each_of_piece<piece>(first, elements, each);
}

}  // namespace avida
