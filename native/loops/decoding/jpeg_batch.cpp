#include "loops/decoding/jpeg_batch.h"

#include <algorithm>
#include <span>

#include "loops/decoding/jpeg_item.h"
#include "loops/decoding/jpeg_sync.h"
#include "operator/gpu_call.h"
#include "operator/launches.h"

namespace avida {

void JpegBatch::add(const codecs::PlainJpeg& plain, const JpegScan* scan, const std::vector<JpegSegment>& segments,
                    int needed) {
  const auto file = static_cast<int>(files_.size()), first = static_cast<int>(segments_.size());
  for (const JpegSegment& one : segments) {
    const auto index = static_cast<int>(segments_.size());
    JpegSegment& segment = segments_.emplace_back(one);
    segment.file = file;
    segment.interval += intervals_;
    const bool begins = index == first || segments_[index - 1].interval != segment.interval;
    segment.first_of_interval = begins ? index : segments_[index - 1].first_of_interval;
    segment.first_part = parts_;
    parts_ += segment.parts();
  }
  for (auto index = static_cast<int>(segments_.size()) - 2; index >= first; index--)
    if (const JpegSegment& next = segments_[index + 1]; next.interval == segments_[index].interval)
      segments_[index].after = next.count + next.after;

  const int each = plain.interval ? plain.interval : plain.mcus;
  for (int begin = 0; begin < plain.mcus; begin += each, intervals_++) {
    const int end = std::min(plain.mcus, begin + each), first_slice = static_cast<int>(slices_.size());
    for (int mcu = begin; mcu < end; mcu += JpegSlice::kMcus)
      slices_.push_back({file, intervals_, first_slice, mcu, std::min(JpegSlice::kMcus, end - mcu)});
  }
  add(plain, scan, nullptr, needed);
  coefficients_ += plain.samples();
  blocks_ += (plain.blocks() + 1) / 2 * 2;  // keeps what follows aligned
}

void JpegBatch::add(const codecs::PlainJpeg& plain, const JpegScan* scan, const int16_t* coefficients, int needed) {
  found_.push_back(
      {{plain.plane[0], plain.plane[1], plain.plane[2]}, needed, samples_, coefficients_, blocks_, coefficients});
  files_.push_back({scan, nullptr, nullptr, nullptr});
  samples_ += plain.samples();
}

void JpegBatch::decode(Gpu& gpu, const GpuStream& stream) {
  const auto zeros = [&](int64_t bytes) {
    Block block = gpu.allocate(bytes, stream.handle);
    gpu.clear(block.get(), static_cast<size_t>(bytes), stream.handle);
    return block;
  };
  const Block cleared =
      zeros((coefficients_ + blocks_) * int64_t{sizeof(int16_t)} + intervals_ * static_cast<int64_t>(sizeof(int)));
  auto* coefficients = static_cast<int16_t*>(cleared.get());
  int16_t* const steps = coefficients + coefficients_;
  int* const complete = reinterpret_cast<int*>(steps + blocks_);
  failed_ = zeros(static_cast<int64_t>(files_.size() * sizeof(int)));
  planes_ = gpu.allocate(samples_, stream.handle);
  for (size_t i = 0; i < files_.size(); i++) {
    files_[i].coefficients = coefficients + found_[i].first_coefficient;
    files_[i].steps = steps + found_[i].first_block;
    files_[i].failed = static_cast<int*>(failed_.get()) + i;
  }
  launch_on_gpu(stream, [&](Launches& launches) {
    const auto numbers = [&](size_t count) {
      return static_cast<unsigned*>(launches.scratch(static_cast<int64_t>(count * sizeof(unsigned))));
    };
    const auto segments = static_cast<int64_t>(segments_.size()), slices = static_cast<int64_t>(slices_.size());
    const JpegWork work{launches.upload(std::span<const JpegFile>(files_)),
                        launches.upload(std::span<const JpegSegment>(segments_)),
                        numbers(parts_),
                        numbers(parts_),
                        numbers(segments_.size()),
                        numbers(segments_.size()),
                        complete};
    launches.add<JpegSync<false>>(0, segments, work);
    // A segment ends in the right state if it synchronises anywhere: once more corrects where the next one begins.
    // Those among empty blocks may not synchronise.
    const bool has_empty = std::ranges::any_of(segments_, [](const JpegSegment& one) { return one.skipped > 0; });
    const int rounds = segments == intervals_ ? 0 : has_empty ? 8 : 2;
    for (int i = 0; i < rounds; i++) {
      launches.then();
      launches.add<JpegSync<true>>(0, segments, work);
    }
    launches.then();
    launches.add<JpegReader>(0, segments, work);
    const JpegSteps<false>::Params sums{work.files, launches.upload(std::span<const JpegSlice>(slices_)), complete,
                                        numbers(3 * slices_.size())};
    launches.then();
    launches.add<JpegSteps<false>>(0, slices, sums);
    launches.then();
    launches.add<JpegSteps<true>>(0, slices, {sums.files, sums.slices, sums.complete, sums.sums});
    launches.then();
    for (size_t i = 0; i < files_.size(); i++) {
      const Found& found = found_[i];
      const short* from = found.coefficients ? found.coefficients : files_[i].coefficients;
      auto* made = static_cast<uint8_t*>(planes_.get()) + found.first_sample;
      for (int c = 0; c < found.needed; c++) {
        const auto& plane = found.plane[c];
        const int* factors = found.coefficients ? files_[i].scan->plane[c].factors : nullptr;
        launches.add<JpegBlocks>(0, plane.samples() / 64,
                                 {made, from, factors, static_cast<int>(plane.stride / 8), files_[i].failed});
        from += plane.samples();
        made += plane.samples();
      }
    }
  });
}

const uint8_t* JpegBatch::planes(size_t file) const {
  return static_cast<const uint8_t*>(planes_.get()) + found_[file].first_sample;
}

std::vector<int> JpegBatch::failed(Gpu& gpu, const GpuStream& stream) const {
  std::vector<int> failed(files_.size());
  gpu.copy_out(failed.data(), failed_.get(), failed.size() * sizeof(int), stream.handle);
  return failed;
}

}  // namespace avida
