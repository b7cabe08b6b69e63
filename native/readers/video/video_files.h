// VideoFiles: the videos of a data set, their indexes, and decoders that stay open between clips.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "codecs/video/gpu_video.h"
#include "codecs/video/video.h"
#include "readers/video/video_indexes.h"
#include "runtime/executor.h"
#include "runtime/fork.h"

namespace avida {

class VideoFiles {
 public:
  explicit VideoFiles(std::vector<std::string> paths) : paths_(std::move(paths)), files_(paths_.size()) {}

  size_t size() const { return paths_.size(); }
  const std::string& path(size_t file) const { return paths_[file]; }
  // Reads the packets of all files whose indexes are not known, on all CPUs, and adds them to those that are. A file
  // that fails keeps its error.
  void read_indexes(VideoIndexes* known, const Interrupt& interrupt);
  // Null for a file that failed; then error() says why.
  const codecs::VideoIndex* index(size_t file) const { return files_[file].index.get(); }
  const Error& error(size_t file) const { return *files_[file].error; }

  struct Video {
    explicit Video(storage::ObjectPtr file, std::shared_ptr<const codecs::VideoIndex> index = {})
        : video(std::move(file), std::move(index)) {}
    int64_t position() const { return on_gpu ? on_gpu->position() : video.position(); }
    void forget() {
      video.forget();
      if (on_gpu) on_gpu->forget();
    }
    codecs::VideoFile video;
    std::unique_ptr<codecs::GpuVideo> on_gpu;  // decodes for a GPU, from the first time on that it is asked to
  };

  // An open video; of several, the one from which the frame is reached soonest. The caller gives it back, unless it
  // failed.
  std::unique_ptr<Video> take(size_t file, int64_t frame);
  void give_back(size_t file, std::unique_ptr<Video> video);

 private:
  struct Known {
    storage::Identity state;
    std::shared_ptr<const codecs::VideoIndex> index;
    std::unique_ptr<Error> error;
  };
  struct Idle {
    size_t file;
    std::unique_ptr<Video> video;
  };

  void read_index(size_t file, VideoIndexes* known);

  const std::vector<std::string> paths_;
  std::vector<Known> files_;
  ForkSafe<> mutex_{ForkAware::Rank::reader};
  std::vector<Idle> idle_;  // the one that was used last at the end
};

}  // namespace avida
