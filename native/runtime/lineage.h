// The origins of a value's samples, known while the value is still pending: keyed random draws need them at the call,
// without waiting.
#pragma once
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "core/data.h"

namespace avida {

class Value;

// The number of keyed draws of a sample since it was read, shared by everything computed from the sample.
using DrawCount = std::shared_ptr<std::atomic<unsigned>>;

struct Lineage {
  Origins origins;
  std::vector<DrawCount> draws;  // one for each sample; null if no reader has read it
  bool permuted = false;         // the samples are in another order, which the origins of the data give
};
using LineagePtr = std::shared_ptr<const Lineage>;

// Starts counters for the values of a batch or sample that a reader has just read.
void begin_lineage(std::span<const std::shared_ptr<Value>> values);

// The lineage of some of the samples.
LineagePtr select(const LineagePtr& lineage, const std::vector<int>& indices);

// The lineage of a batch that is stacked from single samples. `origins` are those of the new batch.
LineagePtr combine(std::span<const LineagePtr> samples, Origins origins);

// The lineage of an operator's result: that of the first input with the same number of samples.
LineagePtr inherit(std::span<const std::shared_ptr<Value>> inputs, int samples);

// The same lineage in the order of the data, for a value that is ready.
LineagePtr in_order(const LineagePtr& lineage, const Origins& order);

}  // namespace avida
