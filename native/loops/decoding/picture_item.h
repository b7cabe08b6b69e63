// GPU body: converts the planes of decoded pictures to interleaved pixels, with the bits of interleave_planes().
//
// Read by NVRTC too: no std headers.
#pragma once
#include "codecs/video/plane_mix.h"
#include "device/convert.h"
#include "device/words.h"

namespace avida {

// Planes of Sample, unsigned char or unsigned short. An item is some neighbouring pixels of a row. Out is unsigned
// char, or float, which is multiplied by `scale`.
template <class Sample, class Out>
struct PicturePixels {
  static constexpr const char* header = "loops/decoding/picture_item.h";
  static constexpr int kPixels = 4;
  struct Params {
    Out* out;  // dense
    const unsigned char* plane[3];
    long stride[3];  // of rows, in bytes
    int height, width;
    int chroma_height, chroma_width;  // 0 without chroma
    int chroma_step;                  // the distance of neighbouring chroma samples, in samples
    int bits;                         // of a sample
    PlaneMix mix;
    float scale;
  };

  // Items begin at words of the output: the first and the last of a row may be short.
  AVIDA_HD AVIDA_INLINE static int items_per_row(int width) { return (width + 2 * kPixels - 2) / kPixels; }

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    const int per_row = items_per_row(params.width), y = static_cast<int>(item / per_row);
    Out* out = params.out + static_cast<long>(y) * params.width * 3;
    const int lead = sizeof(Out) == 1 ? lead_of<3, 4, kPixels>(reinterpret_cast<const unsigned char*>(out)) : 0;
    const int x = static_cast<int>(item - static_cast<long>(y) * per_row) * kPixels - lead;
    const auto* luma = row_of(params, 0, y);
    int samples[3][kPixels];
    for (int i = 0; i < kPixels; i++) {
      const int column = PlaneTap::within(x + i, params.width);
      samples[0][i] = luma[column] << (2 * kPlaneFraction - params.bits);
    }
    interpolate(params, 1, y, x, samples[1]);
    interpolate(params, 2, y, x, samples[2]);
    Out made[3 * kPixels];
    for (int i = 0; i < kPixels; i++)
      for (int c = 0; c < 3; c++)
        made[3 * i + c] = output(params, params.mix.channel(c, samples[0][i], samples[1][i], samples[2][i]));
    if constexpr (sizeof(Out) == 1)
      if (x >= 0 && x + kPixels <= params.width) return store_bytes<4>(out + 3 * x, made);
    for (int i = 0; i < 3 * kPixels; i++)
      if (x + i / 3 >= 0 && x + i / 3 < params.width) out[3 * x + i] = made[i];
  }

 private:
  AVIDA_HD AVIDA_INLINE static const Sample* row_of(const Params& params, int plane, int y) {
    return reinterpret_cast<const Sample*>(params.plane[plane] + y * params.stride[plane]);
  }

  AVIDA_HD AVIDA_INLINE static Out output(const Params& params, int value) {
    if constexpr (sizeof(Out) == 1)
      return static_cast<Out>(value);
    else
      return static_cast<float>(value) * params.scale;
  }

  // A column of a chroma plane, interpolated between rows.
  struct Column {
    const Sample *near, *far;
    int weight, shift, step;

    AVIDA_HD AVIDA_INLINE int operator()(int column) const {
      const unsigned a = near[column * step], b = far[column * step];
      return static_cast<int>((a * static_cast<unsigned>(256 - weight) + b * static_cast<unsigned>(weight)) >> shift);
    }
  };

  AVIDA_HD AVIDA_INLINE static void interpolate(const Params& params, int plane, int y, int x, int (&made)[kPixels]) {
    const int n = params.chroma_width;
    if (n == 0) {
      for (int i = 0; i < kPixels; i++) made[i] = 128 << kPlaneFraction;
      return;
    }
    const PlaneTap rows = params.chroma_height == params.height ? PlaneTap{y, y, 0}
                                                                : PlaneTap::at(y, params.chroma_height, params.height);
    const Column column{row_of(params, plane, rows.first), row_of(params, plane, rows.second), rows.weight,
                        params.bits - kPlaneFraction, params.chroma_step};
    if (2 * n == params.width) {       // a sample is 3/4 of the nearest one and 1/4 of the next
      const int begin = (x >> 1) - 1;  // x may be below 0
      int sums[kPixels];
      for (int k = 0; k < kPixels; k++) sums[k] = column(PlaneTap::within(begin + k, n));
      for (int i = 0; i < kPixels; i++) {
        const int here = 1 + ((x & 1) + i) / 2, right = (x + i) & 1;
        made[i] = (3 * sums[here] + 2 + sums[right ? here + 1 : here - 1]) >> 2;
      }
      return;
    }
    for (int i = 0; i < kPixels; i++) {
      const int at = PlaneTap::within(x + i, params.width);
      if (n == params.width) {
        made[i] = column(at);
        continue;
      }
      const PlaneTap tap = PlaneTap::at(at, n, params.width);
      const auto a = static_cast<unsigned>(column(tap.first)), b = static_cast<unsigned>(column(tap.second));
      made[i] =
          static_cast<int>((a * static_cast<unsigned>(256 - tap.weight) + b * static_cast<unsigned>(tap.weight)) >> 8);
    }
  }
};

}  // namespace avida
