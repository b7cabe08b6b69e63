#include "readers/mix/mix_order.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "device/philox.h"

namespace avida {
namespace {

constexpr int64_t kBlock = 1024;             // slots that are shuffled with one another
constexpr int kBits = 53;                    // of the sum of all weights
constexpr int64_t kMost = int64_t{1} << 53;  // slots of a pass, and passes of a part

constexpr uint64_t kMixKey = 0x3A1DF00D;  // tells these numbers from those that shuffle samples

// Weights as integers.
std::vector<int64_t> integers_of(const std::vector<double>& weights) {
  double sum = 0;
  for (double weight : weights) {
    if (!std::isfinite(weight) || weight <= 0) value_error("expected weights above 0, got ", weight);
    sum += weight;
  }
  std::vector<int64_t> integers;
  for (double weight : weights) {
    integers.push_back(std::llround(std::ldexp(weight / sum, kBits)));
    if (integers.back() == 0) value_error("the weight ", weight, " is too small for a sum of ", sum);
  }
  return integers;
}

// The nearest integer to n * of / whole.
int64_t share(int64_t n, int64_t of, int64_t whole) {
  return static_cast<int64_t>((static_cast<__int128>(n) * of + whole / 2) / whole);
}

}  // namespace

MixOrder::MixOrder(std::vector<int64_t> sizes, const std::optional<std::vector<double>>& weights, Stop stop,
                   int64_t slots, uint64_t seed)
    : sizes_(std::move(sizes)), seed_(seed) {
  if (weights) weights_ = integers_of(*weights);
  slots_ = stop == Stop::slots ? slots : slots_until(stop);
  if (slots_ < 1 || slots_ > kMost) value_error("expected a stop after 1 to 2**53 samples, got ", slots_);
}

// Each part gets its share of what those before it have left. So the counts add up, and none ever decreases.
int64_t MixOrder::count(size_t part, int64_t slots) const {
  const auto parts = std::ssize(sizes_);
  if (weights_.empty()) return (slots + parts - 1 - static_cast<int64_t>(part)) / parts;
  int64_t left = slots, whole = std::accumulate(weights_.begin(), weights_.end(), int64_t{0});
  for (size_t before = 0; before < part; before++) {
    left -= share(left, weights_[before], whole);
    whole -= weights_[before];
  }
  return share(left, weights_[part], whole);
}

// Whether no part has more slots than samples.
bool MixOrder::fits(int64_t slots) const {
  for (size_t part = 0; part < sizes_.size(); part++)
    if (count(part, slots) > sizes_[part]) return false;
  return true;
}

// Whether no part has fewer slots than samples.
bool MixOrder::fills(int64_t slots) const {
  for (size_t part = 0; part < sizes_.size(); part++)
    if (count(part, slots) < sizes_[part]) return false;
  return true;
}

int64_t MixOrder::slots_until(Stop stop) const {
  const auto reached = [&](int64_t slots) { return stop == Stop::all ? fills(slots) : !fits(slots + 1); };
  int64_t least = 0, enough = 1;
  while (!reached(enough)) {
    least = enough;
    enough *= 2;
    if (enough > kMost) value_error("a part has so small a weight that all of it would take more than 2**53 samples");
  }
  while (enough - least > 1) {
    const int64_t middle = least + (enough - least) / 2;
    (reached(middle) ? enough : least) = middle;
  }
  return enough;
}

std::vector<size_t> MixOrder::shuffled_parts(int64_t pass, int64_t number) const {
  const int64_t begin = number * kBlock, end = std::min(begin + kBlock, slots_);
  std::vector<size_t> parts;
  for (size_t part = 0; part < sizes_.size(); part++)
    parts.insert(parts.end(), static_cast<size_t>(count(part, end) - count(part, begin)), part);
  PhiloxBlock draw = philox(seed_ ^ kMixKey, static_cast<uint64_t>(pass), static_cast<uint64_t>(number));
  const uint64_t key = static_cast<uint64_t>(draw.word[1]) << 32 | draw.word[0];
  for (size_t i = parts.size(); i > 1; i--) {
    const uint64_t below = philox(key, 0, i).word[0] * static_cast<uint64_t>(i) >> 32;
    std::swap(parts[i - 1], parts[below]);
  }
  return parts;
}

MixOrder::Block MixOrder::deal(int64_t pass, int64_t number) const {
  const int64_t begin = number * kBlock, end = std::min(begin + kBlock, slots_);
  std::vector<int64_t> counts;
  for (size_t part = 0; part < sizes_.size(); part++) counts.push_back(count(part, begin));
  Block block{pass, number, {}};
  const auto add = [&](size_t part) { block.slots.emplace_back(part, counts[part]++); };
  if (weights_.empty())
    for (int64_t slot = begin; slot < end; slot++) add(static_cast<size_t>(slot) % sizes_.size());
  else
    std::ranges::for_each(shuffled_parts(pass, number), add);
  return block;
}

std::vector<MixOrder::Draw> MixOrder::draws(std::span<const SampleId> slots) const {
  std::vector<Draw> draws;
  Block block{-1, -1, {}};
  for (const auto& [slot, pass] : slots) {
    if (block.pass != pass || block.number != slot / kBlock) block = deal(pass, slot / kBlock);
    const auto [part, before] = block.slots[static_cast<size_t>(slot % kBlock)];
    const __int128 number = static_cast<__int128>(pass) * count(part, slots_) + before;
    const __int128 pass_of_part = number / sizes_[part];
    if (pass_of_part > kMost) value_error("expected a position of at most 2**53 passes over a part of the mixture");
    draws.push_back({part, static_cast<int64_t>(pass_of_part), static_cast<int64_t>(number % sizes_[part])});
  }
  return draws;
}

}  // namespace avida
