// Bodies around the optical flow engine: frames and hints in its formats, and its vectors as floats.
#pragma once
#include "device/convert.h"
#include "device/words.h"

namespace avida {

// Four neighbouring pixels of a row, as R, G, B and a zero for each, or as bytes if there is one channel.
struct FlowFrame {
  static constexpr const char* header = "loops/flow/flow_items.h";
  struct Params {
    const unsigned char* in;
    unsigned char* out;
    long pitch;  // of out
    int width, channels;
    bool swapped;  // B, G, R
  };

  AVIDA_HD static long items_per_row(long width) { return (width + 3) / 4; }

  AVIDA_HD static void run(const Params& params, long item) {
    const long row = item / items_per_row(params.width);
    const int x = 4 * static_cast<int>(item - row * items_per_row(params.width));
    const unsigned char* in = params.in + (row * params.width + x) * params.channels;
    unsigned char* out = params.out + row * params.pitch;
    if (params.channels == 1) {
      for (int k = 0; k < 4 && x + k < params.width; k++) out[x + k] = in[k];
      return;
    }
    auto* pixels = reinterpret_cast<unsigned*>(out) + x;
    if (x + 4 > params.width) {
      for (int k = 0; x + k < params.width; k++)
        pixels[k] = ordered(word_of(in[3 * k], in[3 * k + 1], in[3 * k + 2], 0), params.swapped);
      return;
    }
    unsigned bytes[3];
    load_words(in, bytes);
    const unsigned four[4] = {ordered(bytes[0] & 0xffffff, params.swapped),
                              ordered(pick_bytes(bytes[0], bytes[1], 0x0543) & 0xffffff, params.swapped),
                              ordered(pick_bytes(bytes[1], bytes[2], 0x0432) & 0xffffff, params.swapped),
                              ordered(bytes[2] >> 8, params.swapped)};
    store_words<4>(pixels, four);
  }

 private:
  AVIDA_HD static unsigned ordered(unsigned pixel, bool swapped) {
    return swapped ? pick_bytes(pixel, 0, 0x4012) : pixel;
  }
};

constexpr float kFlowUnit = 32;  // the engine's vectors are in 1/32 of a pixel

// A vector that the engine has found, in pixels.
struct FlowVectors {
  static constexpr const char* header = "loops/flow/flow_items.h";
  struct Params {
    const short* in;
    float* out;
    long pitch;  // of in, in bytes
    long width;
  };

  AVIDA_HD static void run(const Params& params, long item) {
    const long row = item / params.width, column = item - row * params.width;
    const auto* in = reinterpret_cast<const short*>(reinterpret_cast<const char*>(params.in) + row * params.pitch);
    for (int k = 0; k < 2; k++) params.out[2 * item + k] = static_cast<float>(in[2 * column + k]) / kFlowUnit;
  }
};

// A hint for the engine.
struct FlowHints {
  static constexpr const char* header = "loops/flow/flow_items.h";
  struct Params {
    const float* in;
    short* out;
    long pitch;  // of out, in bytes
    long width;
  };

  AVIDA_HD static void run(const Params& params, long item) {
    const long row = item / params.width, column = item - row * params.width;
    auto* out = reinterpret_cast<short*>(reinterpret_cast<char*>(params.out) + row * params.pitch);
    for (int k = 0; k < 2; k++) out[2 * column + k] = convert<short>(params.in[2 * item + k] * kFlowUnit);
  }
};

}  // namespace avida
