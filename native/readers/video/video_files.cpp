#include "readers/video/video_files.h"

#include <algorithm>
#include <limits>

#include "runtime/thread_pool.h"

namespace avida {
namespace {

constexpr size_t kMostIdle = 32;         // a decoder of 720p holds about 20 MB
constexpr ptrdiff_t kMostIdleOnGpu = 8;  // of NVDEC about 40 MB, and another video can use it

}  // namespace

void VideoFiles::read_indexes(VideoIndexes* known, const Interrupt& interrupt) {
  auto pool = std::make_shared<ThreadPool>(available_cpus());
  constexpr size_t kAtOnce = 64;
  for (size_t begin = 0; begin < files_.size(); begin += kAtOnce) {
    if (interrupt) interrupt();
    const size_t n = std::min(kAtOnce, files_.size() - begin);
    pool->parallel_for(static_cast<int64_t>(n), [&](int64_t i) { read_index(begin + static_cast<size_t>(i), known); });
  }
}

void VideoFiles::read_index(size_t file, VideoIndexes* known) {
  try {
    const FileState state = files_[file].state = file_state(paths_[file]);
    if (known && (files_[file].index = known->find(paths_[file], state))) return;
    auto video = std::make_unique<Video>(paths_[file]);
    files_[file].index = video->video.shared_index();
    if (known) known->add(paths_[file], state, files_[file].index);
    give_back(file, std::move(video));
  } catch (const Error& error) {
    files_[file].error = std::make_unique<Error>(error);
  }
}

std::unique_ptr<VideoFiles::Video> VideoFiles::take(size_t file, int64_t frame) {
  {
    std::lock_guard lock(mutex_);
    auto distance = [&](const Idle& idle) {
      const int64_t at = idle.video->position();
      return at < 0 || at > frame ? std::numeric_limits<int64_t>::max() : frame - at;
    };
    auto best = idle_.end();
    for (auto each = idle_.begin(); each != idle_.end(); ++each)
      if (each->file == file && (best == idle_.end() || distance(*each) < distance(*best))) best = each;
    if (best != idle_.end()) {
      auto video = std::move(best->video);
      idle_.erase(best);
      return video;
    }
  }
  if (file_state(paths_[file]) != files_[file].state) refuse("the video changed after the reader was made");
  return std::make_unique<Video>(paths_[file], files_[file].index);
}

void VideoFiles::give_back(size_t file, std::unique_ptr<Video> video) {
  std::unique_ptr<Video> closed;  // both after the lock is released
  std::unique_ptr<codecs::GpuVideo> released;
  std::lock_guard lock(mutex_);
  const auto older = [](const Idle& a, const Idle& b) { return a.last_use < b.last_use; };
  if (video->on_gpu && std::ranges::count_if(idle_, &Idle::is_on_gpu) >= kMostIdleOnGpu)
    released = std::move(std::ranges::min_element(idle_, [&](auto& a, auto& b) {
                           return a.is_on_gpu() != b.is_on_gpu() ? a.is_on_gpu() : older(a, b);
                         })->video->on_gpu);
  if (idle_.size() < kMostIdle) {
    idle_.push_back({file, ++uses_, std::move(video)});
    return;
  }
  auto oldest = std::ranges::min_element(idle_, older);
  closed = std::move(oldest->video);
  *oldest = {file, ++uses_, std::move(video)};
}

}  // namespace avida
