// Random numbers that belong to a sample, and not to the place of a call in the program.
#pragma once
#include <string_view>
#include <vector>

#include "kernel/philox.h"
#include "runtime/lineage.h"

namespace avida {

// The streams of one keyed call. Each follows from the seed, the sample's index and epoch, and which of the keyed draws
// for that sample this is: the n-th, or one with a name, which is not counted. Throws for a sample without an index.
std::vector<RandomKey> keyed_streams(uint64_t seed, const Lineage& lineage, std::string_view name);

}  // namespace avida
