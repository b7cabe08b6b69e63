#include <cmath>
#include <memory>

#include "core/clones.h"
#include "ops/noise/noise.h"
#include "ops/noise/poisson.h"

namespace avida::ops {
namespace {

struct ShotArgs {
  float factor = 20;
};

template <class Real>
void make_noisy(const Sample<ShotArgs>& sample) {
  const double factor = sample.args.factor;
  change_rows<Real>(sample, [&](Real* values, int64_t first, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
      const PhiloxBlock block = random_block(sample.random, static_cast<unsigned>(first + i));
      values[i] = static_cast<Real>(poisson(values[i] / factor, sample.random, block) * factor);
    }
  });
}

// Bytes have few means, and up to this one few likely counts: which count a random word means is looked up.
constexpr double kMostTableMean = 32;

class CountTable {
 public:
  void prepare(double mean) {
    double probability = portable::exp_of_minus(std::max(mean, 0.0)), sum = 0;
    for (int k = 0; k < kCounts; k++) {
      sum += probability;
      probability *= std::max(mean, 0.0) / (k + 1);
      end_[k] = k + 1 < kCounts ? static_cast<unsigned>(std::min(sum * 0x1p32, 0x1.fffffffep31)) : ~0u;
    }
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

  static constexpr int kCounts = 128;

 private:
  unsigned end_[kCounts];  // the first word that means more than k
  uint8_t start_[256];     // where to begin for words of these highest bits
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

template <class Byte>
void make_bytes_noisy(const Sample<ShotArgs>& sample) {
  const Byte* in = sample.in[0].as<Byte>();
  Byte* out = sample.out[0].as<Byte>();
  const double factor = sample.args.factor;
  Byte values[CountTable::kCounts];
  for (int k = 0; k < CountTable::kCounts; k++) values[k] = convert<Byte>(k * factor);
  const auto tables = std::make_unique_for_overwrite<CountTable[]>(256);
  bool prepared[256] = {};
  alignas(64) unsigned words[kDrawRow];
  for (int64_t row = sample.begin; row < sample.end; row++) {
    const int64_t first = row * kDrawRow, n = std::min(kDrawRow, sample.out[0].elements() - first);
    draw_words(words, sample.random, first, n);
    for (int64_t i = 0; i < n; i++) {
      const Byte value = in[first + i];
      const auto index = static_cast<uint8_t>(value);
      if (!prepared[index]) tables[index].prepare(value / factor), prepared[index] = true;
      out[first + i] = values[tables[index].count(words[i])];
    }
  }
}

void run(const Sample<ShotArgs>& sample) {
  const DType dtype = sample.in[0].dtype;
  const float factor = sample.args.factor;
  if (factor == 0)
    change_rows<double>(sample, [](double*, int64_t, int64_t) {});
  else if (size_of(dtype) == 1 && 256 / std::abs(factor) <= kMostTableMean)
    dtype == DType::uint8 ? make_bytes_noisy<uint8_t>(sample) : make_bytes_noisy<int8_t>(sample);
  else
    fits_float(dtype) ? make_noisy<float>(sample) : make_noisy<double>(sample);
}

}  // namespace

AVIDA_OP_IN(noise, shot, ShotArgs) {
  op.doc("Replaces each element by a random number of events, Poisson distributed, that has the element as its mean.")
      .input("input", "The samples to make noisy; elements below 0 become 0.")
      .arg("factor", &ShotArgs::factor, "What one event adds: larger ones make more noise. With 0, nothing changes.")
      .per_frame()
      .example("avida.noise.shot(image, factor=10)")
      .random()
      .infer(infer_noisy)
      .each_sample(noisy_shape, run)
      .rows(noisy_rows)
      .cost(10);
}

}  // namespace avida::ops
