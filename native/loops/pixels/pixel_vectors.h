// Images of bytes for each_pixel.h on the CPU, many pixels at a time.
// The body runs on vectors of floats as it does on one float, so that the bits are the same.
#pragma once
#include <cstdint>

#include "core/rows.h"
#include "core/vectors.h"
#include "device/pixel.h"

namespace avida {

// Which byte of a vector of 64 goes where, for 16 pixels.
struct PixelBytesOrder {
  alignas(64) uint8_t read[3][64];  // each channel, as 32-bit numbers
  alignas(64) uint8_t write[64];    // pixels from what packing leaves: in every 16 bytes, four of each channel
  alignas(64) uint8_t low[64];      // the lowest bytes of 16 numbers
};
constexpr PixelBytesOrder kPixelBytes = [] {
  PixelBytesOrder bytes{};
  for (int i = 0; i < 16; i++) {
    bytes.low[i] = static_cast<uint8_t>(4 * i);
    for (int c = 0; c < 3; c++) {
      bytes.read[c][4 * i] = static_cast<uint8_t>(3 * i + c);
      bytes.write[3 * i + c] = static_cast<uint8_t>(i / 4 * 16 + c * 4 + i % 4);
    }
  }
  return bytes;
}();
// Four vectors of 16 pixels, of which 48 bytes count, as three of 64 bytes: each from two neighbours.
struct JoinedPixelsOrder {
  alignas(64) uint8_t of_two[3][64];
};
constexpr JoinedPixelsOrder kJoinedPixels = [] {
  JoinedPixelsOrder order{};
  for (int i = 0; i < 192; i++) order.of_two[i / 64][i % 64] = static_cast<uint8_t>((i / 48 - i / 64) * 64 + i % 48);
  return order;
}();
constexpr uint64_t kThreeChannels = (uint64_t{1} << 48) - 1, kLowBytes = 0x1111111111111111;

}  // namespace avida

// All of it is inlined into one function for each instruction set, so nobody sees how vectors are passed.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loops/pixels/pixel_vectors-inl.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "loops/pixels/pixel_vectors-inl.h"

namespace avida {

template <class BodyOfJob, class ParamsOfJob>
struct PixelJob {
  using Body = BodyOfJob;
  using Params = ParamsOfJob;
};

// Bodies that are templates of the type of a channel can.
template <class Body, class Params>
concept RunsOnVectors =
    requires(Pixel<Body::in, HWY_NAMESPACE::Floats> pixel, Params params) { Body::run(pixel, params); };

// Does what vectors can do of n pixels of bytes, and says how many that were.
template <class Body, class Params>
int64_t vector_pixels(uint8_t* out, const uint8_t* in, int64_t n, int64_t plane, const Params& params) {
  constexpr bool known = (Body::in == 1 || Body::in == 3) && (Body::out == 1 || Body::out == 3);
  if constexpr (known && RunsOnVectors<Body, Params>) {
    // HWY_EXPORT and HWY_DYNAMIC_DISPATCH, which know no templates.
    using Job = PixelJob<Body, Params>;
    using Run = int64_t (*)(uint8_t*, const uint8_t*, int64_t, int64_t, const Params&);
    static constexpr Run runs[] = {nullptr, HWY_CHOOSE_TARGET_LIST(vector_run<Job>),
                                   HWY_CHOOSE_FALLBACK(vector_run<Job>)};
    hwy::ChosenTarget& chosen = hwy::GetChosenTarget();
    if (!chosen.IsInitialized()) chosen.Update(hwy::SupportedTargets());
    return runs[chosen.GetIndex()](out, in, n, plane, params);
  } else {
    return 0;
  }
}

}  // namespace avida
#pragma GCC diagnostic pop
