// Keyed draws: random numbers that depend on the sample, not on the order of calls in the program.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "device/philox.h"
#include "runtime/lineage.h"

namespace avida {

// The number of the next keyed draw of each sample, which is counted by that. Copies of a sample draw the same.
std::vector<unsigned> count_draws(const Lineage& lineage);
// The next keyed draw of each sample has the number of its last one: for calls that belong together.
void repeat_draws(const Lineage& lineage);

// The streams of one keyed call. Each depends on the seed, the sample's index and epoch, and the number of the keyed
// draw for that sample, or its name if it has one; named draws are not counted. Throws for a sample without an index.
std::vector<RandomKey> keyed_streams(uint64_t seed, const Lineage& lineage, std::string_view name,
                                     std::span<const unsigned> numbers);
// Throws for samples that no reader has read.
void check_keyed(const Lineage& lineage);

}  // namespace avida
