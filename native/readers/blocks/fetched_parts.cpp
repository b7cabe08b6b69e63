#include "readers/blocks/fetched_parts.h"

#include <algorithm>

namespace avida {
namespace {

constexpr double kMostAhead = 1 << 20;  // samples: of a part that has a small share

}  // namespace

std::shared_ptr<FetchedParts> FetchedParts::of(const std::shared_ptr<const Source>& source, const Schedule& schedule,
                                               int depth) {
  if (source->is_local() || schedule.order) return nullptr;
  auto parts = source->parts_in_blocks();
  if (schedule.blocks && schedule.shuffle != Shuffle::none) parts.push_back({source, schedule.blocks});
  auto made = std::make_shared<FetchedParts>();
  for (const Source::PartInBlocks& part : parts) {
    if (part.source->is_local()) continue;
    const auto window = part.order->samples_in_window();
    made->parts_.push_back(
        {.first = part.first,
         .end = part.first + part.source->size(),
         .ahead =
             std::max(window, static_cast<int64_t>(std::min(static_cast<double>(window) / part.share, kMostAhead))),
         .blocks = std::make_shared<FetchedBlocks>(part.source, part.order, std::max(depth, 1), depth > 0)});
  }
  return made->parts_.empty() ? nullptr : made;
}

int64_t FetchedParts::samples_ahead() const { return std::ranges::max(parts_, {}, &Part::ahead).ahead; }

std::vector<SampleId> FetchedParts::Part::chosen(std::span<const SampleId> ids) const {
  std::vector<SampleId> own;
  for (const SampleId& id : ids)
    if (id.index >= first && id.index < end) own.push_back({id.index - first, id.pass});
  return own;
}

void FetchedParts::announce(int64_t batch, std::span<const SampleId> ids) {
  for (const Part& part : parts_) part.blocks->announce(batch, part.chosen(ids));
}

storage::Fetched FetchedParts::take(int64_t batch, std::vector<SampleId>& ids) {
  storage::Fetched fetched;
  for (const Part& part : parts_) {
    fetched.add(part.blocks->get(batch, part.chosen(ids)));
    std::erase_if(ids, [&](const SampleId& id) { return id.index >= part.first && id.index < part.end; });
  }
  return fetched;
}

void FetchedParts::stop() {
  for (const Part& part : parts_) part.blocks->stop();
}

void FetchedParts::join(std::chrono::steady_clock::time_point latest) {
  for (const Part& part : parts_) part.blocks->join(latest);
}

}  // namespace avida
