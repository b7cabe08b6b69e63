// Who the samples of a value are, known while the value itself may still be pending: keyed random draws need it at the
// call, and nothing should have to wait for that.
#pragma once
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "core/data.h"

namespace avida {

class Value;

// How many keyed draws a sample has had since it was read. Everything made of the sample counts together.
using DrawCount = std::shared_ptr<std::atomic<unsigned>>;

struct Lineage {
  Origins origins;
  std::vector<DrawCount> draws;  // one for each sample; null for one that no reader has read
  bool permuted = false;         // these samples in another order: the data's own origins tell which
};
using LineagePtr = std::shared_ptr<const Lineage>;

// Begins to count for what a reader has just read: the values of one batch, or of one sample.
void begin_lineage(std::span<const std::shared_ptr<Value>> values);

// That of some of the samples.
LineagePtr select(const LineagePtr& lineage, const std::vector<int>& indices);

// That of samples put together, each alone in its lineage. `origins` are those of the new batch.
LineagePtr combine(std::span<const LineagePtr> samples, Origins origins);

// What an operator's result inherits: the first of the inputs' that has as many samples.
LineagePtr inherit(std::span<const std::shared_ptr<Value>> inputs, int samples);

// The same with its samples in the order of the data's, for a value that is ready.
LineagePtr in_order(const LineagePtr& lineage, const Origins& order);

}  // namespace avida
