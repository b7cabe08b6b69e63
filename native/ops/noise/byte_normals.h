// Normally distributed noise for bytes, in integers of 16 bits: a block of random words makes eight numbers.
// The quantiles of the distribution are lines between those of 64 shares; the last share has 64 of its own.
#pragma once
#include "device/convert.h"
#include "device/philox.h"

namespace avida::ops {

constexpr int kShares = 64, kQuantileBits = 12;

// Where the lines begin and by how much they rise, in units of 2^-12; first those of all shares, then of the last one.
struct NormalLines {
  unsigned short start[2][kShares], rise[2][kShares];
};

// mean + stddev * number, with `bits` of fraction.
struct ByteNoise {
  int bits;
  short factor;  // of a number in units of 2^-12, of which 15 bits are dropped
  short mean;    // and a half, for rounding
};

// The elements of a tile of 16 blocks follow one another as halves of words: the lower half of the first word of each
// block, its upper half, those of the next block; then all second words.
constexpr int kNoiseTile = 128;
AVIDA_HD AVIDA_INLINE long noise_index(long block, int word, int half) {
  return block / 16 * kNoiseTile + word * 32 + block % 16 * 2 + half;
}

AVIDA_HD AVIDA_INLINE unsigned char noisy_byte(unsigned char x, unsigned random, const NormalLines& lines,
                                               const ByteNoise& noise) {
  const unsigned share = random >> 9 & 63, last = share == 63;
  const unsigned at = last ? random >> 3 & 63 : share;
  const unsigned along = last ? (random & 7) << 13 | 1 << 12 : (random & 511) << 7 | 1 << 6;
  const int magnitude = static_cast<int>(lines.start[last][at] + (lines.rise[last][at] * along >> 16));
  const int negative = -static_cast<int>(random >> 15 & 1), number = (magnitude ^ negative) - negative;
  // Halves are rounded up for positive numbers, down for negative ones.
  const int sum = (x << noise.bits) + noise.mean + negative + ((number * noise.factor + 0x4000) >> 15);
  return saturate<unsigned char>(sum >> noise.bits);
}

// Each item is a block.
struct GaussianBytes {
  static constexpr const char* header = "ops/noise/byte_normals.h";
  struct Params {
    unsigned char* out;
    const unsigned char* in;
    long elements;
    RandomKey key;
    const NormalLines* lines;
    ByteNoise noise;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    const PhiloxBlock block = random_block(params.key, static_cast<unsigned>(item));
    for (int k = 0; k < 8; k++) {
      const long i = noise_index(item, k / 2, k % 2);
      const unsigned random = block.word[k / 2] >> (k % 2 * 16) & 0xffff;
      if (i < params.elements) params.out[i] = noisy_byte(params.in[i], random, *params.lines, params.noise);
    }
  }
};

#ifndef __CUDACC_RTC__
// The same for the elements of some tiles on the CPU, from a multiple of kNoiseTile on.
void add_byte_noise(const GaussianBytes::Params& params, long begin, long end);
#endif

}  // namespace avida::ops
