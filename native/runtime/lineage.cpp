#include "runtime/lineage.h"

#include "runtime/value.h"

namespace avida {

void begin_lineage(std::span<const ValuePtr> values) {
  for (auto& value : values) {
    if (value->failed() || !value->ready().origins) continue;
    const Origins& origins = value->ready().origins;
    if (&value == &values[0] || !values[0]->lineage || origins != values[0]->lineage->origins) {
      auto lineage = std::make_shared<Lineage>();
      lineage->origins = origins;
      auto counts = std::make_shared<std::vector<std::atomic<unsigned>>>(origins->size());
      for (auto& count : *counts) lineage->draws.emplace_back(counts, &count);
      value->lineage = std::move(lineage);
    } else {
      value->lineage = values[0]->lineage;
    }
  }
}

LineagePtr select(const LineagePtr& lineage, const std::vector<int>& indices) {
  if (!lineage) return nullptr;
  auto out = std::make_shared<Lineage>();
  std::vector<Origin> origins;
  for (int i : indices) {
    origins.push_back((*lineage->origins)[i]);
    out->draws.push_back(lineage->draws[i]);
  }
  out->origins = std::make_shared<const std::vector<Origin>>(std::move(origins));
  return out;
}

LineagePtr combine(std::span<const LineagePtr> samples, Origins origins) {
  if (!origins) return nullptr;
  auto out = std::make_shared<Lineage>();
  out->origins = std::move(origins);
  for (auto& sample : samples) out->draws.push_back(sample ? sample->draws[0] : nullptr);
  return out;
}

LineagePtr inherit(std::span<const ValuePtr> inputs, int samples) {
  for (auto& input : inputs)
    if (input->lineage && static_cast<int>(input->lineage->draws.size()) == samples) return input->lineage;
  return nullptr;
}

LineagePtr in_order(const LineagePtr& lineage, const Origins& order) {
  if (!lineage || !lineage->permuted) return lineage;
  if (!order) return nullptr;
  auto out = std::make_shared<Lineage>();
  out->origins = order;
  for (const Origin& origin : *order) {
    DrawCount found;
    for (size_t i = 0; i < lineage->draws.size() && !found; i++) {
      const Origin& candidate = (*lineage->origins)[i];
      if (candidate.index == origin.index && candidate.epoch == origin.epoch && candidate.source == origin.source)
        found = lineage->draws[i];
    }
    out->draws.push_back(std::move(found));
  }
  return out;
}

}  // namespace avida
