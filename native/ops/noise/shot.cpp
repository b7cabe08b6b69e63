#include "ops/noise/shot.h"

#include <cmath>
#include <memory>

#include "core/clones.h"
#include "ops/noise/noise.h"

namespace avida::ops {
namespace {

struct ShotArgs {
  float factor = 20;
};

template <class T>
void make_noisy(const Sample<ShotArgs>& sample) {
  each_item<ShotNoise<T, NoiseReal<T>>>(
      sample, sample.begin * kDrawRow, std::min(sample.end * kDrawRow, sample.out[0].elements()),
      {sample.out[0].as<T>(), sample.in[0].as<T>(), sample.random, sample.args.factor});
}

// The random words of each count, for one value of a byte.
class CountTable {
 public:
  void prepare(double mean) {
    PoissonSteps steps(mean);
    for (unsigned& end : end_) end = steps.next();
    for (unsigned high = 0, k = 0; high < 256; high++) {
      while (end_[k] <= high << 24) k++;
      start_[high] = static_cast<uint8_t>(k);
    }
  }

  int count(unsigned word) const {
    int k = start_[word >> 24];
    while (k + 1 < kCounts && end_[k] <= word) k++;
    return k;
  }

  static constexpr int kCounts = PoissonSteps::kCounts;

 private:
  unsigned end_[kCounts];  // the first word of more than k events
  uint8_t start_[256];     // the count to begin with, by the highest bits of a word
};

struct Words {
  using Number = unsigned;
  AVIDA_INLINE void operator()(const PhiloxBlock& block, unsigned (&out)[4]) const {
    for (int i = 0; i < 4; i++) out[i] = block.word[i];
  }
};
AVIDA_CLONES void draw_words(unsigned* out, const RandomKey& key, int64_t first, int64_t n) {
  draw_run(out, key, first, n, Words{});
}

// The parameters are a copy, which written bytes cannot alias.
template <class Byte>
void look_up_rows(const typename ShotNoiseOfBytes<Byte>::Params params, int64_t begin, int64_t end) {
  Byte values[CountTable::kCounts];
  for (int k = 0; k < CountTable::kCounts; k++) values[k] = convert<Byte>(k * params.factor);
  const auto tables = std::make_unique_for_overwrite<CountTable[]>(256);
  bool prepared[256] = {};
  alignas(64) unsigned words[kDrawRow];
  for (int64_t row = begin; row < end; row++) {
    const int64_t first = row * kDrawRow, n = std::min(kDrawRow, params.elements - first);
    draw_words(words, params.key, first, n);
    for (int64_t i = 0; i < n; i++) {
      const Byte value = params.in[first + i];
      const auto index = static_cast<uint8_t>(value);
      if (!prepared[index]) tables[index].prepare(value / params.factor), prepared[index] = true;
      params.out[first + i] = values[tables[index].count(words[i])];
    }
  }
}

template <class Byte>
void make_bytes_noisy(const Sample<ShotArgs>& sample) {
  const int64_t elements = sample.out[0].elements();
  const typename ShotNoiseOfBytes<Byte>::Params params{sample.out[0].as<Byte>(), sample.in[0].as<Byte>(), elements,
                                                       sample.random, sample.args.factor};
  each_block<ShotNoiseOfBytes<Byte>, 4>(sample, elements, params,
                                        [&] { look_up_rows<Byte>(params, sample.begin, sample.end); });
}

struct ShotPlan : NoisePlan {
  void run(const Sample<ShotArgs>& sample) const {
    with_noisy_type(sample.in[0].dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      if constexpr (sizeof(T) == 1)
        if (256 / std::abs(sample.args.factor) <= kMostWordMean) return make_bytes_noisy<T>(sample);
      make_noisy<T>(sample);
    });
  }
};

}  // namespace

AVIDA_OP_IN(noise, shot, ShotArgs) {
  op.doc("Adds shot noise: replaces elements by Poisson distributed numbers of that mean.")
      .input("input", "The samples to add noise to; elements below 0 become 0.")
      .arg("factor", &ShotArgs::factor, "The value of one event: larger factors make more noise, and 0 makes none.")
      .per_frame()
      .example("avida.noise.shot(image, factor=10)")
      .random()
      .infer(infer_noisy)
      .each_sample<ShotPlan>()
      .cost(10);
}

}  // namespace avida::ops
