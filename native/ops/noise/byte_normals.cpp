#include "ops/noise/byte_normals.h"

#include <algorithm>

#include "core/vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/noise/byte_normals.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace avida::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Words = hn::CappedTag<uint32_t, 16>;
using Wide = hn::Repartition<uint64_t, Words>;
using Halves = hn::Repartition<uint16_t, Words>;
using SignedHalves = hn::RebindToSigned<Halves>;
using Word = hn::Vec<Words>;
using Half = hn::Vec<Halves>;

// random_block() of every second block, a word in the lower half of each lane: products need no other place, and what
// they leave in the upper half is not looked at.
struct EveryOther {
  hn::Vec<Wide> word[4];

  HWY_INLINE EveryOther(const avida::RandomKey& key, uint32_t first) {
    const Wide wide;
    const Words d;
    const uint64_t high = key.position + 1;
    word[0] = hn::Add(hn::ShiftLeft<1>(hn::Iota(wide, 0)), hn::Set(wide, first));
    word[1] = hn::Set(wide, key.sample);
    word[2] = hn::Set(wide, high);
    word[3] = hn::Set(wide, high >> 32);
    uint32_t key0 = static_cast<uint32_t>(key.seed), key1 = static_cast<uint32_t>(key.seed >> 32);
    for (int round = 0; round < 10; round++) {
      const auto a = hn::MulEven(hn::BitCast(d, word[0]), hn::Set(d, 0xD2511F53u));
      const auto b = hn::MulEven(hn::BitCast(d, word[2]), hn::Set(d, 0xCD9E8D57u));
      word[0] = hn::Xor(hn::ShiftRight<32>(b), hn::Xor(word[1], hn::Set(wide, key0)));
      word[2] = hn::Xor(hn::ShiftRight<32>(a), hn::Xor(word[3], hn::Set(wide, key1)));
      word[1] = b;
      word[3] = a;
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
  }
};

// random_block() of as many blocks as there are lanes.
HWY_INLINE void random_words(const avida::RandomKey& key, uint32_t first, Word (&word)[4]) {
  const Words d;
  const EveryOther even(key, first), odd(key, first + 1);
  for (int k = 0; k < 4; k++)
    word[k] = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd.word[k])), hn::BitCast(d, even.word[k]));
}

// Looks 64 numbers up.
HWY_INLINE Half look_up(const unsigned short* table, const Half& at) {
  const Halves d;
#if HWY_TARGET <= HWY_AVX3
  return Half{_mm512_permutex2var_epi16(_mm512_loadu_si512(table), at.raw, _mm512_loadu_si512(table + 32))};
#else
  alignas(64) uint16_t index[hn::MaxLanes(d)], found[hn::MaxLanes(d)];
  hn::Store(at, d, index);
  for (size_t i = 0; i < hn::MaxLanes(d); i++) found[i] = table[index[i]];
  return hn::Load(d, found);
#endif
}

// noisy_byte() of as many bytes as there are halves.
HWY_INLINE void add_noise(uint8_t* out, const uint8_t* in, const Half& random, const ops::NormalLines& lines,
                          const ops::ByteNoise& noise) {
  const Halves d;
  const SignedHalves s;
  const auto share = hn::And(hn::ShiftRight<9>(random), hn::Set(d, uint16_t{63}));
  const auto last = hn::Eq(share, hn::Set(d, uint16_t{63}));
  const auto in_last = hn::And(hn::ShiftRight<3>(random), hn::Set(d, uint16_t{63}));
  const auto along = hn::IfThenElse(last, hn::Or(hn::ShiftLeft<13>(random), hn::Set(d, uint16_t{1 << 12})),
                                    hn::Or(hn::ShiftLeft<7>(random), hn::Set(d, uint16_t{1 << 6})));
  const auto start = hn::IfThenElse(last, look_up(lines.start[1], in_last), look_up(lines.start[0], share));
  const auto rise = hn::IfThenElse(last, look_up(lines.rise[1], in_last), look_up(lines.rise[0], share));
  const auto magnitude = hn::BitCast(s, hn::Add(start, hn::MulHigh(rise, along)));
  const auto negative = hn::ShiftRight<15>(hn::BitCast(s, random));
  const auto number = hn::Sub(hn::Xor(magnitude, negative), negative);
  const auto moved = hn::MulFixedPoint15(number, hn::Set(s, noise.factor));
  const hn::Rebind<uint8_t, SignedHalves> bytes;
  const auto x = hn::ShiftLeftSame(hn::PromoteTo(s, hn::LoadU(bytes, in)), noise.bits);
  const auto sum =
      hn::ShiftRightSame(hn::Add(hn::Add(x, hn::Set(s, noise.mean)), hn::Add(moved, negative)), noise.bits);
  hn::StoreU(hn::DemoteTo(bytes, sum), bytes, out);
}

// A whole tile.
HWY_INLINE void add_tile(const ops::GaussianBytes::Params& params, uint8_t* out, const uint8_t* in, uint32_t block) {
  constexpr size_t lanes = hn::MaxLanes(Words());
  for (size_t lane = 0; lane < 16; lane += lanes) {
    Word word[4];
    random_words(params.key, block + static_cast<uint32_t>(lane), word);
    for (int k = 0; k < 4; k++) {
      const size_t first = 32 * k + 2 * lane;
      add_noise(out + first, in + first, hn::BitCast(Halves(), word[k]), *params.lines, params.noise);
    }
  }
}

void add_tiles(const ops::GaussianBytes::Params& params, long begin, long end) {
  for (long i = begin; i < end; i += ops::kNoiseTile) {
    const auto block = static_cast<uint32_t>(i / ops::kNoiseTile * 16);
    if (i + ops::kNoiseTile <= end) {
      add_tile(params, params.out + i, params.in + i, block);
      continue;
    }
    uint8_t tile[ops::kNoiseTile] = {};
    std::copy(params.in + i, params.in + end, tile);
    add_tile(params, tile, tile, block);
    std::copy(tile, tile + (end - i), params.out + i);
  }
}

}  // namespace avida::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace avida::ops {
namespace {
HWY_EXPORT(add_tiles);
}

void add_byte_noise(const GaussianBytes::Params& params, long begin, long end) {
  HWY_DYNAMIC_DISPATCH(add_tiles)(params, begin, end);
}

}  // namespace avida::ops
#endif
