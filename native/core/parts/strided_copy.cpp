#include "core/parts/strided_copy.h"

#include <algorithm>
#include <cstdlib>

#include "core/rows.h"

namespace avida {
namespace {

constexpr int64_t kPart = 32 << 10;   // bytes: enough for one unit of thread work, and small enough for the L1 cache
constexpr int64_t kLine = 64;         // bytes of a line of the cache
constexpr int64_t kSquare = 32;       // elements on each side of a transposition tile
constexpr int64_t kPixelSquare = 64;  // pixels of three bytes: three lines
constexpr int64_t kFewChannels = 4;   // an axis of at most this extent is not split

using Axis = StridedCopy::Axis;

template <int N>
struct Bytes {
  char at[N];
};

// N: the extent of the fast axis where it is known, else 0.
// The loops copy the axes into local variables: the compiler cannot exclude that elements alias the axes.
template <class T, int N>
void copy_tile(char* out, const char* in, const Axis& slow_axis, const Axis& fast_axis, int64_t) {
  const Axis slow = slow_axis, fast = fast_axis;
  const int64_t n = N ? N : fast.extent;
  for (int64_t s = 0; s < slow.extent; s++) {
    char* to = out + s * slow.out;
    const char* from = in + s * slow.in;
#pragma GCC unroll 4
    for (int64_t f = 0; f < n; f++, to += fast.out, from += fast.in)
      *reinterpret_cast<T*>(to) = *reinterpret_cast<const T*>(from);
  }
}

// Mirrored rows. Typed pointers let the compiler vectorise.
template <class T>
void reverse_rows(char* out, const char* in, const Axis& slow, const Axis& fast, int64_t) {
  const int64_t n = fast.extent;
  for (int64_t s = 0; s < slow.extent; s++) {
    T* __restrict to = reinterpret_cast<T*>(out + s * slow.out);
    const T* __restrict from = reinterpret_cast<const T*>(in + s * slow.in);
    for (int64_t f = 0; f < n; f++) to[f] = from[-f];
  }
}

// Mirrored rows of three bytes.
void reverse_triples(char* out, const char* in, const Axis& slow, const Axis& fast, int64_t) {
  for (int64_t s = 0; s < slow.extent; s++)
    mirror(reinterpret_cast<uint8_t*>(out + s * slow.out), reinterpret_cast<const uint8_t*>(in + s * slow.in),
           fast.extent);
}

// Pixels of three bytes whose rows become columns.
void transpose_pixels(char* out, const char* in, const Axis& slow, const Axis& fast, int64_t) {
  transpose_triples(reinterpret_cast<uint8_t*>(out), slow.out, reinterpret_cast<const uint8_t*>(in), fast.in,
                    slow.extent, fast.extent);
}

void copy_blocks(char* out, const char* in, const Axis& slow, const Axis& fast, int64_t block) {
  for (int64_t s = 0; s < slow.extent; s++)
    for (int64_t f = 0; f < fast.extent; f++)
      store_row(out + s * slow.out + f * fast.out, in + s * slow.in + f * fast.in, block);
}

// Interleaved to planar (HWC to CHW): the slow axis has N channels. Constant strides let the compiler vectorise.
template <class T, int N>
void split_channels(char* out, const char* in, const Axis& slow, const Axis& fast, int64_t) {
  auto plane = [&](int c) { return reinterpret_cast<T*>(out + std::min(c, N - 1) * slow.out); };
  auto* __restrict from = reinterpret_cast<const T*>(in);
  T* __restrict a = plane(0);
  T* __restrict b = plane(1);
  [[maybe_unused]] T* __restrict c = plane(2);
  [[maybe_unused]] T* __restrict d = plane(3);
  const int64_t n = fast.extent;
  for (int64_t i = 0; i < n; i++) {
    a[i] = from[i * N];
    b[i] = from[i * N + 1];
    if constexpr (N > 2) c[i] = from[i * N + 2];
    if constexpr (N > 3) d[i] = from[i * N + 3];
  }
}

void split_triples(char* out, const char* in, const Axis& slow, const Axis& fast, int64_t) {
  auto* first = reinterpret_cast<uint8_t*>(out);
  split(first, first + slow.out, first + 2 * slow.out, reinterpret_cast<const uint8_t*>(in), fast.extent);
}

// Planar to interleaved (CHW to HWC): the fast axis has N channels.
template <class T, int N>
void join_channels(char* out, const char* in, const Axis& slow, const Axis& fast, int64_t) {
  auto plane = [&](int c) { return reinterpret_cast<const T*>(in + std::min(c, N - 1) * fast.in); };
  auto* __restrict to = reinterpret_cast<T*>(out);
  const T* __restrict a = plane(0);
  const T* __restrict b = plane(1);
  [[maybe_unused]] const T* __restrict c = plane(2);
  [[maybe_unused]] const T* __restrict d = plane(3);
  const int64_t n = slow.extent;
  for (int64_t i = 0; i < n; i++) {
    to[i * N] = a[i];
    to[i * N + 1] = b[i];
    if constexpr (N > 2) to[i * N + 2] = c[i];
    if constexpr (N > 3) to[i * N + 3] = d[i];
  }
}

void join_triples(char* out, const char* in, const Axis& slow, const Axis& fast, int64_t) {
  auto* first = reinterpret_cast<const uint8_t*>(in);
  interleave(reinterpret_cast<uint8_t*>(out), first, first + fast.in, first + 2 * fast.in, slow.extent);
}

// The loop for `slow` and `fast`; a short axis, such as channels, has a loop specialised for its extent.
template <class T>
StridedCopy::Tile typed_tile(const Axis& slow, const Axis& fast) {
  constexpr int64_t size = sizeof(T);
  if (slow.in == size && fast.out == size && fast.in == slow.extent * size) {
    if (slow.extent == 2) return split_channels<T, 2>;
    if (slow.extent == 3) return size == 1 ? split_triples : split_channels<T, 3>;
    if (slow.extent == 4) return split_channels<T, 4>;
  }
  if (fast.out == size && fast.in == -size) return reverse_rows<T>;
  bool joins = slow.in == size && fast.out == size && slow.out == fast.extent * size;
  if (fast.extent == 2) return joins ? join_channels<T, 2> : copy_tile<T, 2>;
  if (fast.extent == 3 && joins) return size == 1 ? join_triples : join_channels<T, 3>;
  if (fast.extent == 3) return copy_tile<T, 3>;
  if (fast.extent == 4) return joins ? join_channels<T, 4> : copy_tile<T, 4>;
  return copy_tile<T, 0>;
}

// Blocks of several elements may lie at any address, so they are copied as bytes.
StridedCopy::Tile find_tile(int64_t block, int64_t element_size, const Axis& slow, const Axis& fast) {
  if (block != element_size) {
    if (block == 2) return copy_tile<Bytes<2>, 0>;
    if (block == 4) return copy_tile<Bytes<4>, 0>;
    if (block == 8) return copy_tile<Bytes<8>, 0>;
  }
  switch (block) {
    case 1:
      return typed_tile<uint8_t>(slow, fast);
    case 2:
      return typed_tile<uint16_t>(slow, fast);
    case 3:
      if (fast.out == 3 && fast.in == -3) return reverse_triples;
      return fast.out == 3 && slow.in == 3 ? transpose_pixels : copy_tile<Bytes<3>, 0>;
    case 4:
      return typed_tile<uint32_t>(slow, fast);
    case 6:
      return copy_tile<Bytes<6>, 0>;
    case 8:
      return typed_tile<uint64_t>(slow, fast);
    case 12:
      return copy_tile<Bytes<12>, 0>;
    case 16:
      return copy_tile<Bytes<16>, 0>;
    default:
      return copy_blocks;
  }
}

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

StridedCopy::StridedCopy(int element_size, const Shape& shape, const Shape& out_strides, const Shape& in_strides)
    : element_size_(element_size), block_(element_size) {
  int n = 0;
  for (int d = 0; d < shape.size(); d++) {
    if (shape[d] == 0) return;
    if (shape[d] == 1) continue;
    Axis axis{shape[d], out_strides[d] * element_size, in_strides[d] * element_size};
    if (n > 0 && outer_[n - 1].out == axis.out * axis.extent && outer_[n - 1].in == axis.in * axis.extent)
      outer_[n - 1] = {outer_[n - 1].extent * axis.extent, axis.out, axis.in};
    else
      outer_[n++] = axis;
  }
  if (n > 0 && outer_[n - 1].out == block_ && outer_[n - 1].in == block_) block_ *= outer_[--n].extent;
  if (n == 0) {
    rows_ = divide_up(block_, kPart);
    return;
  }
  fast_ = outer_[--n];
  if (n > 0) {
    // Reading along the axis with the smallest stride keeps the reads in cache.
    int closest = n - 1;
    for (int d = n - 2; d >= 0; d--)
      if (std::abs(outer_[d].in) < std::abs(outer_[closest].in)) closest = d;
    if (std::abs(outer_[closest].in) >= std::abs(fast_.in)) closest = n - 1;
    slow_ = outer_[closest];
    std::move(outer_ + closest + 1, outer_ + n, outer_ + closest);
    n--;
  }
  outer_axes_ = n;
  choose_tiles();
}

void StridedCopy::choose_tiles() {
  auto fitting = [&](int64_t bytes) { return std::max<int64_t>(kPart / bytes, 1); };
  bool transposes = slow_.extent > 1 && std::abs(slow_.in) < std::abs(fast_.in);
  if (transposes && slow_.extent > kFewChannels && fast_.extent > kFewChannels) {
    slow_step_ = fast_step_ = block_ == 3 ? kPixelSquare : kSquare;
  } else if (transposes && slow_.extent <= kFewChannels) {
    slow_step_ = slow_.extent;
    fast_step_ = fitting(block_ * slow_.extent);
    if (fast_step_ > kLine) fast_step_ -= fast_step_ % kLine;  // tiles begin with a line, if the sample does
  } else {
    fast_step_ = std::min(fast_.extent, fitting(block_));
    slow_step_ = fitting(block_ * fast_step_);
  }
  slow_step_ = std::min(slow_step_, slow_.extent);
  fast_step_ = std::min(fast_step_, fast_.extent);
  slow_tiles_ = divide_up(slow_.extent, slow_step_);
  fast_tiles_ = divide_up(fast_.extent, fast_step_);
  rows_ = slow_tiles_ * fast_tiles_;
  for (int d = 0; d < outer_axes_; d++) rows_ *= outer_[d].extent;
  tile_ = find_tile(block_, element_size_, slow_, fast_);
}

void StridedCopy::run(void* out_data, const void* in_data, int64_t begin, int64_t end) const {
  if (begin >= end) return;
  auto* out = static_cast<char*>(out_data);
  auto* in = static_cast<const char*>(in_data);
  if (!tile_) {
    int64_t from = begin * kPart, to = std::min(end * kPart, block_);
    store_row(out + from, in + from, to - from);
    return;
  }

  int64_t rest = begin;
  int64_t fast_tile = rest % fast_tiles_;
  rest /= fast_tiles_;
  int64_t slow_tile = rest % slow_tiles_;
  rest /= slow_tiles_;
  int64_t at[kMaxDim];
  for (int d = outer_axes_ - 1; d >= 0; d--) {
    at[d] = rest % outer_[d].extent;
    rest /= outer_[d].extent;
    out += at[d] * outer_[d].out;
    in += at[d] * outer_[d].in;
  }
  for (int64_t row = begin; row < end; row++) {
    int64_t s = slow_tile * slow_step_, f = fast_tile * fast_step_;
    Axis slow{std::min(slow_step_, slow_.extent - s), slow_.out, slow_.in};
    Axis fast{std::min(fast_step_, fast_.extent - f), fast_.out, fast_.in};
    tile_(out + s * slow.out + f * fast.out, in + s * slow.in + f * fast.in, slow, fast, block_);

    if (++fast_tile < fast_tiles_) continue;
    fast_tile = 0;
    if (++slow_tile < slow_tiles_) continue;
    slow_tile = 0;
    for (int d = outer_axes_ - 1; d >= 0; d--) {
      out += outer_[d].out;
      in += outer_[d].in;
      if (++at[d] < outer_[d].extent) break;
      out -= at[d] * outer_[d].out;
      in -= at[d] * outer_[d].in;
      at[d] = 0;
    }
  }
}

}  // namespace avida
