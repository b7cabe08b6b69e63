// The DCT and the IDCT of JPEG for one instruction set, with the bits of libjpeg-turbo's vector code.
#if defined(AVIDA_CODECS_COSINES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AVIDA_CODECS_COSINES_INL_H
#undef AVIDA_CODECS_COSINES_INL_H
#else
#define AVIDA_CODECS_COSINES_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace avida::codecs::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::CappedTag<int16_t, 32>;
using Longs = hn::Repartition<int32_t, Words>;
using Word = hn::Vec<Words>;
using Long = hn::Vec<Longs>;

// For each pair of neighbouring lanes: a[0] * first + a[1] * second.
template <int first, int second>
HWY_INLINE Long dot(Word a) {
  const Longs longs;
  const Words words;
  const auto factors = hn::BitCast(words, hn::Set(longs, (first & 0xFFFF) | second * 65536));
#if HWY_ARCH_X86
  Long unused = hn::Zero(longs);
  return hn::ReorderWidenMulAccumulate(longs, a, factors, hn::Zero(longs), unused);
#else
  const auto low = [&](Word v) { return hn::ShiftRight<16>(hn::ShiftLeft<16>(hn::BitCast(longs, v))); };
  const auto high = [&](Word v) { return hn::ShiftRight<16>(hn::BitCast(longs, v)); };
  return hn::Add(hn::Mul(low(a), low(factors)), hn::Mul(high(a), high(factors)));
#endif
}

template <bool upper>
HWY_INLINE Word interleave(Word a, Word b) {
  if constexpr (upper)
    return hn::InterleaveUpper(Words(), a, b);
  else
    return hn::InterleaveLower(Words(), a, b);
}

// The odd part of both transforms for one half of the lanes, by Loeffler, Ligtenberg and Moschytz. All factors are sums
// of cosines in 13 bits of fraction. For the IDCT the inputs are those that the names tell.
struct Odd {
  Word seven_one, five_three, sums;

  template <bool upper>
  static HWY_INLINE Odd of(Word one, Word three, Word five, Word seven) {
    return {interleave<upper>(seven, one), interleave<upper>(five, three),
            interleave<upper>(hn::Add(seven, three), hn::Add(five, one))};
  }
  HWY_INLINE void mix(Long (&out)[4]) const {
    const Long z3 = dot<9633 - 16069, 9633>(sums), z4 = dot<9633, 9633 - 3196>(sums);
    out[0] = hn::Add(dot<-7373, 12299 - 7373>(seven_one), z4);
    out[1] = hn::Add(dot<-20995, 25172 - 20995>(five_three), z3);
    out[2] = hn::Add(dot<16819 - 20995, -20995>(five_three), z4);
    out[3] = hn::Add(dot<2446 - 7373, -7373>(seven_one), z3);
  }
};

// The IDCT along one axis for one half of the lanes, of inputs whose halves were interleaved. `few`: only the first
// four inputs are not zero.
struct Interleaved {
  Word sum, difference;  // of inputs 0 and 4, with zeros in the low lanes
  Word two_six, one_three;
  Odd odd;
};
template <bool few, int shift>
HWY_INLINE void transform(const Interleaved& in, Long (&out)[8]) {
  const Longs longs;
  const Long sum = hn::ShiftRight<3>(hn::BitCast(longs, in.sum));
  const Long difference = hn::ShiftRight<3>(hn::BitCast(longs, in.difference));
  const Long b = dot<4433 + 6270, 4433>(in.two_six), a = dot<4433, 4433 - 15137>(in.two_six);
  const Long half = hn::Set(longs, 1 << (shift - 1));
  const Long even[4] = {hn::Add(hn::Add(sum, b), half), hn::Add(hn::Add(difference, a), half),
                        hn::Add(hn::Sub(difference, a), half), hn::Add(hn::Sub(sum, b), half)};
  Long odd[4];
  if constexpr (few) {
    odd[0] = dot<12299 - 7373 + 9633 - 3196, 9633>(in.one_three);
    odd[1] = dot<9633, 25172 - 20995 + 9633 - 16069>(in.one_three);
    odd[2] = dot<9633 - 3196, 9633 - 20995>(in.one_three);
    odd[3] = dot<9633 - 7373, 9633 - 16069>(in.one_three);
  } else {
    in.odd.mix(odd);
  }
  for (int i = 0; i < 4; i++) {
    out[i] = hn::ShiftRight<shift>(hn::Add(even[i], odd[i]));
    out[7 - i] = hn::ShiftRight<shift>(hn::Sub(even[i], odd[i]));
  }
}

template <bool few, bool upper>
HWY_INLINE Interleaved interleave(const Word (&in)[8]) {
  const Word zero = hn::Zero(Words());
  Interleaved mixed;
  if constexpr (few) {
    mixed.sum = mixed.difference = interleave<upper>(zero, in[0]);
    mixed.two_six = interleave<upper>(in[2], zero);
    mixed.one_three = interleave<upper>(in[1], in[3]);
  } else {
    mixed.sum = interleave<upper>(zero, hn::Add(in[0], in[4]));
    mixed.difference = interleave<upper>(zero, hn::Sub(in[0], in[4]));
    mixed.two_six = interleave<upper>(in[2], in[6]);
    mixed.odd = Odd::of<upper>(in[1], in[3], in[5], in[7]);
  }
  return mixed;
}

// `lower_only`: the upper lanes of all inputs are zero, and so are those of the outputs.
template <bool few, int shift, bool lower_only>
HWY_INLINE void transform_lanes(Word (&at)[8]) {
  const Words words;
  Long low[8], high[8];
  transform<few, shift>(interleave<few, false>(at), low);
  if constexpr (lower_only) {
    for (int i = 0; i < 8; i++) at[i] = hn::ReorderDemote2To(words, low[i], low[i]);
  } else {
    transform<few, shift>(interleave<few, true>(at), high);
    for (int i = 0; i < 8; i++) at[i] = hn::ReorderDemote2To(words, low[i], high[i]);
  }
}

// Four columns of the block in each 128 bits, from the left or from the right, become rows.
template <bool upper>
HWY_INLINE void transpose_half(const Word (&in)[8], Word* out) {
  const Words words;
  const Longs longs;
  const hn::Repartition<int64_t, Words> wide;
  Long pairs[4];
  for (int i = 0; i < 4; i++) pairs[i] = hn::BitCast(longs, interleave<upper>(in[2 * i], in[2 * i + 1]));
  const auto a = hn::BitCast(wide, hn::InterleaveLower(longs, pairs[0], pairs[1]));
  const auto b = hn::BitCast(wide, hn::InterleaveUpper(longs, pairs[0], pairs[1]));
  const auto c = hn::BitCast(wide, hn::InterleaveLower(longs, pairs[2], pairs[3]));
  const auto d = hn::BitCast(wide, hn::InterleaveUpper(longs, pairs[2], pairs[3]));
  out[0] = hn::BitCast(words, hn::InterleaveLower(wide, a, c));
  out[1] = hn::BitCast(words, hn::InterleaveUpper(wide, a, c));
  out[2] = hn::BitCast(words, hn::InterleaveLower(wide, b, d));
  out[3] = hn::BitCast(words, hn::InterleaveUpper(wide, b, d));
}

// Adds 128 to the columns of each block, converts them to bytes and stores its rows beside those of its neighbours.
HWY_INLINE void store_columns(const Word (&columns)[8], uint8_t* out, int64_t stride) {
  const Words words;
  const Longs longs;
  const hn::Repartition<uint64_t, Words> wide;
  const hn::Half<decltype(wide)> half;
  const Word least = hn::Set(words, -128), most = hn::Set(words, 127);
  Word pairs[4];  // each lane has a byte of two columns
  for (int i = 0; i < 4; i++) {
    const Word left = hn::Min(hn::Max(columns[2 * i], least), most);
    const Word right = hn::Min(hn::Max(columns[2 * i + 1], least), most);
    const Word low = hn::And(left, hn::Set(words, 255));
    pairs[i] = hn::Xor(hn::Or(low, hn::ShiftLeft<8>(right)), hn::Set(words, static_cast<int16_t>(0x8080)));
  }
  const auto rows = [&](Word a, Word b, bool upper) {
    const Long x = hn::BitCast(longs, a), y = hn::BitCast(longs, b);
    return hn::BitCast(wide, upper ? hn::InterleaveUpper(longs, x, y) : hn::InterleaveLower(longs, x, y));
  };
  const auto store = [&](Word left, Word right, int row) {  // four rows
    const auto first = rows(left, right, false), second = rows(left, right, true);
    const auto even = hn::ConcatEven(wide, second, first), odd = hn::ConcatOdd(wide, second, first);
    const auto put = [&](auto v, int y) { hn::StoreU(v, half, reinterpret_cast<uint64_t*>(out + stride * (row + y))); };
    put(hn::LowerHalf(half, even), 0);
    put(hn::LowerHalf(half, odd), 1);
    put(hn::UpperHalf(half, even), 2);
    put(hn::UpperHalf(half, odd), 3);
  };
  store(hn::InterleaveLower(words, pairs[0], pairs[1]), hn::InterleaveLower(words, pairs[2], pairs[3]), 0);
  store(hn::InterleaveUpper(words, pairs[0], pairs[1]), hn::InterleaveUpper(words, pairs[2], pairs[3]), 4);
}

constexpr int kFirstPass = 11, kSecondPass = 18;  // bits of fraction that are dropped

// The samples of as many blocks as a vector holds, from their coefficients.
template <bool few>
HWY_INLINE void store_samples(Word (&coefficients)[8], uint8_t* out, int64_t stride) {
  transform_lanes<few, kFirstPass, few>(coefficients);
  Word turned[8];
  transpose_half<false>(coefficients, turned);
  if constexpr (!few) transpose_half<true>(coefficients, turned + 4);
  transform_lanes<few, kSecondPass, false>(turned);
  store_columns(turned, out, stride);
}

// The DCT along one axis for one half of the lanes: outputs 1, 3, 5, 7, 2 and 6, of the differences of inputs and of
// the differences of their sums.
template <bool upper, int shift>
HWY_INLINE void forward(const Word (&differences)[4], Word outer, Word inner, Long (&out)[6]) {
  const Odd odd = Odd::of<upper>(differences[0], differences[1], differences[2], differences[3]);
  const Word even = interleave<upper>(outer, inner);
  Long mixed[4];
  odd.mix(mixed);
  for (int i = 0; i < 4; i++) out[i] = mixed[i];
  out[4] = dot<4433 + 6270, 4433>(even);
  out[5] = dot<4433, 4433 - 15137>(even);
  for (Long& each : out) each = hn::ShiftRight<shift>(hn::Add(each, hn::Set(Longs(), 1 << (shift - 1))));
}

// The DCT along one axis: the first or the second.
template <bool first>
HWY_INLINE void forward_lanes(Word (&at)[8]) {
  const Words words;
  constexpr int kept = 2, shift = first ? 13 - kept : 13 + kept;  // bits of fraction
  Word sums[4], differences[4];
  for (int i = 0; i < 4; i++) {
    sums[i] = hn::Add(at[i], at[7 - i]);
    differences[i] = hn::Sub(at[i], at[7 - i]);
  }
  Long low[6], high[6];
  const Word outer = hn::Sub(sums[0], sums[3]), inner = hn::Sub(sums[1], sums[2]);
  forward<false, shift>(differences, outer, inner, low);
  forward<true, shift>(differences, outer, inner, high);
  constexpr int places[6] = {1, 3, 5, 7, 2, 6};
  for (int i = 0; i < 6; i++) at[places[i]] = hn::ReorderDemote2To(words, low[i], high[i]);
  const auto scaled = [&](Word v) {
    return first ? hn::ShiftLeft<kept>(v) : hn::ShiftRight<kept>(hn::Add(v, hn::Set(words, 1 << (kept - 1))));
  };
  const Word outer_sum = hn::Add(sums[0], sums[3]), inner_sum = hn::Add(sums[1], sums[2]);
  at[0] = scaled(hn::Add(outer_sum, inner_sum));
  at[4] = scaled(hn::Sub(outer_sum, inner_sum));
}

// The coefficients of as many blocks as a vector holds, times 8, from their samples, which are centred on 0.
HWY_INLINE void make_coefficients(Word (&at)[8]) {
  Word turned[8];
  transpose_half<false>(at, turned);
  transpose_half<true>(at, turned + 4);
  forward_lanes<true>(turned);
  transpose_half<false>(turned, at);
  transpose_half<true>(turned, at + 4);
  forward_lanes<false>(at);
}

}  // namespace avida::codecs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
