// The family of operators that make the channels of a pixel from those of the same pixel, on either device.
//
// A body has the arithmetic:
//
//   struct ToGray { static constexpr int in = 3, out = 1;
//                   template <class Number>
//                   AVIDA_HD static Pixel<1, Number> run(const Pixel<3, Number>& pixel, const Weights& weights); };
//
// Bodies compute in float: Number is float, or many of them (pixel_vectors.h). Bytes and floats are read and written
// where they lie, other types through a buffer.
// For speed, a body may also have most(params, channel), which no result exceeds if no channel exceeds `channel`, and
// then Shorter, a body that makes the same bytes where has_shorter(params) is true, and makes_whole, if results are
// integers.
#pragma once
#include <algorithm>

#include "core/clones.h"
#include "core/rows.h"
#include "loops/moving/convert_run.h"
#include "loops/pixels/byte_table.h"
#include "loops/pixels/pixel_item.h"
#include "loops/pixels/pixel_vectors.h"
#include "operator/launches.h"
#include "operator/sample.h"

namespace avida {

constexpr int64_t kPixelBlock = 1024;  // pixels that are converted at once; what threads share

// A sample as pixels: `outer` times `inner` of them, whose channels are `inner` elements apart.
struct PixelGrid {
  int64_t outer, channels, inner;

  bool planar() const { return inner != 1; }
  int64_t line() const { return planar() ? inner : outer; }  // pixels in a row in memory
  int64_t blocks_per_line() const { return (line() + kPixelBlock - 1) / kPixelBlock; }
  int64_t blocks() const { return (planar() ? outer : 1) * blocks_per_line(); }
};

inline PixelGrid pixel_grid(const SampleView& sample) {
  PixelGrid grid{1, 1, 1};
  int c = sample.layout.find('C');
  for (int d = 0; d < sample.ndim(); d++) (d < c ? grid.outer : d == c ? grid.channels : grid.inner) *= sample.shape[d];
  return grid;
}

// Every element is a pixel, for bodies of one channel.
inline PixelGrid element_grid(const SampleView& sample) { return {sample.elements(), 1, 1}; }

template <class Body, class To, class From, class Params>
AVIDA_INLINE void pixel_loop(To* __restrict out, const From* __restrict in, int64_t n, int64_t out_pixel,
                             int64_t out_channel, int64_t in_pixel, int64_t in_channel, Params params) {
  for (int64_t i = 0; i < n; i++) {
    Pixel<Body::in> pixel;
    for (int c = 0; c < Body::in; c++) pixel[c] = static_cast<float>(in[i * in_pixel + c * in_channel]);
    Pixel<Body::out> made = Body::run(pixel, params);
    for (int c = 0; c < Body::out; c++) out[i * out_pixel + c * out_channel] = store_channel<To>(made[c]);
  }
}

// n pixels whose channels are interleaved, or `plane` elements apart if that is not 0.
template <class Body, class T, class Params>
AVIDA_TEMPLATE_CLONES static void pixel_run(T* out, const T* in, int64_t n, int64_t out_plane, int64_t in_plane,
                                            const Params& params) {
  if (in_plane)
    pixel_loop<Body>(out, in, n, 1, out_plane, 1, in_plane, params);
  else
    pixel_loop<Body>(out, in, n, Body::out, 1, Body::in, 1, params);
}

// n pixels of bytes; `plane` as in pixel_run.
template <class Body, class Params>
void byte_pixels(uint8_t* out, const uint8_t* in, int64_t n, int64_t plane, const Params& params) {
  const int64_t done = vector_pixels<Body>(out, in, n, plane, params);
  pixel_run<Body>(out + done * (plane ? 1 : Body::out), in + done * (plane ? 1 : Body::in), n - done, plane, plane,
                  params);
}

// The same for single bytes: of what the body makes of all 256, where machines are fast at looking them up.
template <class Body, class Params>
void single_bytes(uint8_t* out, const uint8_t* in, int64_t n, const Params& params) {
  constexpr int64_t kWorthTable = 4096;
  if (n < kWorthTable || !looks_up_fast()) return byte_pixels<Body>(out, in, n, 0, params);
  uint8_t all[256], table[256];
  for (int i = 0; i < 256; i++) all[i] = static_cast<uint8_t>(i);
  byte_pixels<Body>(table, all, 256, 0, params);
  look_up_bytes(out, in, n, table);
}

// False if there are too many pixels for the body, which counts in 32 bits.
template <class Body, class To, class Work, class Params>
bool launch_byte_pixels(const Work& work, const PixelGrid& grid, const Params& params) {
  if constexpr (Body::out == 3 && sizeof(To) == 1)
    if (const int64_t bytes = 3 * grid.outer; !grid.planar() && bytes >> 30 == 0) {
      using Item = ThreeBytePixels<Body, Params>;
      work.launches->template add<Item>(0, pieces_of(bytes, Item::kPiece),
                                        {work.out[0].template as<uint8_t>(), work.in[0].template as<uint8_t>(),
                                         static_cast<unsigned>(bytes), params});
      return true;
    }
  using Item = BytePixels<Body, To, Params>;
  const int64_t pieces = pieces_of(grid.line(), Item::kPiece);
  const int64_t items = (grid.planar() ? grid.outer : 1) * pieces;
  if (items >> 31) return false;
  work.launches->template add<Item>(
      0, items,
      {work.out[0].template as<To>(), work.in[0].template as<uint8_t>(), static_cast<unsigned>(pieces), grid.line(),
       grid.planar() ? grid.inner : 0, params});
  return true;
}

template <class Body, class Work, class Params>
void launch_pixels(const Work& work, const PixelGrid& grid, const Params& params) {
  const SampleView &in = work.in[0], &out = work.out[0];
  auto launch = [&](auto to, auto from) {
    using Item = PixelItem<Body, typename decltype(to)::type, typename decltype(from)::type, Params>;
    work.launches->template add<Item>(0, grid.outer * grid.inner,
                                      {out.data, in.data, static_cast<int>(out.dtype), static_cast<int>(in.dtype),
                                       grid.planar() ? grid.inner : 0, params});
  };
  if (in.dtype == DType::uint8 && out.dtype == DType::uint8 && launch_byte_pixels<Body, uint8_t>(work, grid, params))
    return;
  if (in.dtype == DType::uint8 && out.dtype == DType::float32 && launch_byte_pixels<Body, float>(work, grid, params))
    return;
  if (in.dtype == DType::float32 && out.dtype == DType::float32)
    launch(Type<float>(), Type<float>());
  else
    launch(Type<AnyElement>(), Type<AnyElement>());
}

// Does the blocks [work.begin, work.end) of a sample; `grid` is that of the input.
template <class Body, class Work, class Params>
void each_pixel(const Work& work, const PixelGrid& grid, const Params& params) {
  if (work.launches) return launch_pixels<Body>(work, grid, params);
  const SampleView &in = work.in[0], &out = work.out[0];
  const bool bytes = in.dtype == DType::uint8 && out.dtype == DType::uint8;
  for (int64_t block = work.begin, blocks = 1; block < work.end; block += blocks) {
    int64_t line = block / grid.blocks_per_line(), first = block % grid.blocks_per_line() * kPixelBlock;
    if (bytes) blocks = std::min(work.end - block, (line + 1) * grid.blocks_per_line() - block);  // nothing is buffered
    int64_t n = std::min(blocks * kPixelBlock, grid.line() - first);
    int64_t plane = grid.planar() ? grid.inner : 0;
    int64_t from = line * Body::in * grid.inner + first * (plane ? 1 : Body::in);
    int64_t to = line * Body::out * grid.inner + first * (plane ? 1 : Body::out);
    if (bytes) {
      uint8_t* made = out.as<uint8_t>() + to;
      const uint8_t* read = in.as<uint8_t>() + from;
      if constexpr (Body::in == 1 && Body::out == 1)
        single_bytes<Body>(made, read, n, params);
      else
        byte_pixels<Body>(made, read, n, plane, params);
      continue;
    }
    if (in.dtype == DType::float32 && out.dtype == DType::float32) {
      pixel_run<Body>(out.as<float>() + to, in.as<float>() + from, n, plane, plane, params);
      continue;
    }
    float read[Body::in * kPixelBlock], made[Body::out * kPixelBlock];
    int64_t short_plane = plane ? kPixelBlock : 0;
    auto to_float = rounding_run(DType::float32, in.dtype), from_float = rounding_run(out.dtype, DType::float32);
    int runs_in = plane ? Body::in : 1, runs_out = plane ? Body::out : 1;
    for (int c = 0; c < runs_in; c++)
      to_float(read + c * kPixelBlock, in.as<char>() + (from + c * plane) * size_of(in.dtype), n * Body::in / runs_in);
    pixel_run<Body>(made, read, n, short_plane, short_plane, params);
    for (int c = 0; c < runs_out; c++)
      from_float(out.as<char>() + (to + c * plane) * size_of(out.dtype), made + c * kPixelBlock,
                 n * Body::out / runs_out);
  }
}

// The same, where the host has a faster loop over interleaved bytes that makes the same bits: host_loop(out, in,
// pixels).
template <class Body, class Work, class Params>
void each_pixel(const Work& work, const PixelGrid& grid, const Params& params,
                void (*host_loop)(uint8_t*, const uint8_t*, int64_t)) {
  if (work.launches || grid.planar()) return each_pixel<Body>(work, grid, params);
  const int64_t first = work.begin * kPixelBlock, end = std::min(work.end * kPixelBlock, grid.outer);
  uint8_t* out = work.out[0].template as<uint8_t>();
  const uint8_t* in = work.in[0].template as<uint8_t>();
  if (!past_cache()) return host_loop(out + first * Body::out, in + first * Body::in, end - first);
  constexpr int64_t kBlock = kPastCacheBlock / Body::out;
  uint8_t made[kPastCacheBlock];
  for (int64_t i = first; i < end; i += kBlock) {
    const int64_t count = std::min(kBlock, end - i);
    host_loop(made, in + i * Body::in, count);
    store_row(out + i * Body::out, made, count * Body::out);
  }
}

}  // namespace avida
