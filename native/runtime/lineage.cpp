#include "runtime/lineage.h"

#include <map>
#include <string_view>
#include <tuple>

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
  using Identity = std::tuple<int64_t, int64_t, std::string_view, const MixPart*>;
  auto identity = [](const Origin& origin) {
    return Identity(origin.index, origin.epoch, origin.source, origin.part.get());
  };
  std::map<Identity, std::vector<DrawCount>> draws;  // of the copies of a sample, in reverse order of use
  for (size_t i = lineage->draws.size(); i-- > 0;) draws[identity((*lineage->origins)[i])].push_back(lineage->draws[i]);
  for (const Origin& origin : *order) {
    auto found = draws.find(identity(origin));
    out->draws.push_back(found == draws.end() ? nullptr : found->second.back());
    // A permutation may repeat a sample. Then there are more copies than counters, and the copies share the last one.
    if (found != draws.end() && found->second.size() > 1) found->second.pop_back();
  }
  return out;
}

}  // namespace avida
