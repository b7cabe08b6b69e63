#include "readers/video/video_files.h"

#include <algorithm>
#include <limits>

#include "core/made_once.h"
#include "runtime/thread_pool.h"
#include "storage/cache/cache.h"

namespace avida {
namespace {

// A decoder of 720p holds about 10 MB, and 40 MB while it keeps frames; others as many times that as they have pixels.
constexpr size_t kMostIdle = 32;
constexpr int64_t kMostIdlePixels = kMostIdle * 1280 * 720;
constexpr ptrdiff_t kMostIdleOnGpu = 8;  // of NVDEC twice as much, and another video can use it

}  // namespace

void VideoFiles::read_indexes(VideoIndexes* known, const Interrupt& interrupt) {
  auto pool = std::make_shared<ThreadPool>(available_cpus());
  constexpr size_t kAtOnce = 64;
  for (size_t begin = 0; begin < files_.size(); begin += kAtOnce) {
    if (interrupt) interrupt();
    const size_t n = std::min(kAtOnce, files_.size() - begin);
    pool->parallel_for(static_cast<int64_t>(n), [&, cache = storage::ThroughCache::current()](int64_t i) {
      const storage::ThroughCache through(cache);
      read_index(begin + static_cast<size_t>(i), known);
    });
  }
}

void VideoFiles::read_index(size_t file, VideoIndexes* known) {
  try {
    const storage::Identity state = files_[file].state = storage::identity(paths_[file]);
    if (known && (files_[file].index = known->find(paths_[file], state))) return;
    auto video = std::make_unique<Video>(storage::open(paths_[file]));
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
  storage::ObjectPtr object = storage::open(paths_[file]);
  if (object->identity() != files_[file].state) refuse("the video changed after the reader was made");
  return std::make_unique<Video>(std::move(object), files_[file].index);
}

void VideoFiles::give_back(size_t file, std::unique_ptr<Video> video) {
  std::vector<Idle> closed;  // both after the lock is released
  std::unique_ptr<codecs::GpuVideo> released;
  std::unique_lock lock(mutex_);
  auto pixels_of = [](const Video& each) { return int64_t{1} * each.video.index().height * each.video.index().width; };
  int64_t pixels = pixels_of(*video);
  for (const Idle& idle : idle_) pixels += pixels_of(*idle.video);
  while (!idle_.empty() && (idle_.size() >= kMostIdle || pixels > kMostIdlePixels)) {
    pixels -= pixels_of(*idle_.front().video);
    closed.push_back(std::move(idle_.front()));
    idle_.erase(idle_.begin());
  }
  const auto has_engine = [](const Idle& idle) { return idle.video->on_gpu && idle.video->on_gpu->has_engine(); };
  if (video->on_gpu && std::ranges::count_if(idle_, has_engine) >= kMostIdleOnGpu)
    released = std::move(std::ranges::find_if(idle_, has_engine)->video->on_gpu);
  idle_.push_back({file, std::move(video)});
  // Frames that are kept serve the next clip of the file, if it comes soon.
  static constinit MadeOnce<const size_t> once;
  const size_t cpus = once.get([] { return std::make_unique<const size_t>(available_cpus()); });
  if (idle_.size() <= cpus) return;
  // Nobody else takes it while it forgets, which closes a decoder; it is among the oldest afterwards.
  const auto old = idle_.end() - static_cast<ptrdiff_t>(cpus) - 1;
  Idle forgetting = std::move(*old);
  idle_.erase(old);
  lock.unlock();
  forgetting.video->forget();
  lock.lock();
  const size_t newer = std::min(cpus, idle_.size());
  idle_.insert(idle_.end() - static_cast<ptrdiff_t>(newer), std::move(forgetting));
}

}  // namespace avida
