#include "operator/keyed.h"

#include <unordered_map>
#include <unordered_set>

#include "core/error.h"

namespace avida {
namespace {

constexpr uint64_t kKeyed = 0x6B657965642D6279;  // separates keyed streams from those of the seed itself

uint64_t hash(std::string_view text) {  // FNV-1a
  uint64_t value = 0xCBF29CE484222325;
  for (unsigned char c : text) value = (value ^ c) * 0x100000001B3;
  return value;
}

// Samples of equal numbers in two parts of a mixture draw apart; those of the first part as without a mixture.
uint64_t key_of(const Origin& origin) { return kKeyed ^ (origin.part ? origin.part->number * 0x9E3779B97F4A7C15 : 0); }

uint64_t joined(unsigned low, unsigned high) { return static_cast<uint64_t>(high) << 32 | low; }

}  // namespace

std::vector<unsigned> count_draws(const Lineage& lineage) {
  std::vector<unsigned> numbers(lineage.draws.size());
  std::unordered_map<const void*, unsigned> counted;
  for (size_t i = 0; i < numbers.size(); i++) {
    auto [found, is_new] = counted.try_emplace(lineage.draws[i].get());
    if (is_new) found->second = lineage.draws[i]->fetch_add(1);
    numbers[i] = found->second;
  }
  return numbers;
}

void repeat_draws(const Lineage& lineage) {
  std::unordered_set<const void*> repeated;
  for (const DrawCount& draws : lineage.draws)
    if (draws && repeated.insert(draws.get()).second) draws->fetch_sub(1);
}

void check_keyed(const Lineage& lineage) {
  const auto& origins = *lineage.origins;
  for (size_t i = 0; i < origins.size(); i++)
    if (!lineage.draws[i] || origins[i].index < 0 || origins[i].epoch < 0)
      value_error("argument \"keyed_by\" expected samples that a reader has read, sample ", i, " is not one");
}

std::vector<RandomKey> keyed_streams(uint64_t seed, const Lineage& lineage, std::string_view name,
                                     std::span<const unsigned> numbers) {
  const auto& origins = *lineage.origins;
  std::vector<RandomKey> streams;
  for (size_t i = 0; i < origins.size(); i++) {
    PhiloxBlock sample = philox(seed ^ key_of(origins[i]), origins[i].index, origins[i].epoch);
    uint64_t site = name.empty() ? numbers[i] : hash(name), low = joined(sample.word[2], sample.word[3]);
    PhiloxBlock draw = philox(joined(sample.word[0], sample.word[1]), site, name.empty() ? low : ~low);
    streams.push_back({joined(draw.word[0], draw.word[1]), joined(draw.word[2], draw.word[3]), 0});
  }
  return streams;
}

}  // namespace avida
