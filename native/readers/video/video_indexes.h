// VideoIndexes: the indexes of many videos, which a file keeps from one run to the next.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "codecs/video/video_index.h"
#include "runtime/fork.h"
#include "storage/storage.h"

namespace avida {

class VideoIndexes {
 public:
  using Index = std::shared_ptr<const codecs::VideoIndex>;

  // `path` is that of the file, `content` what is in it: nothing for a new one. Videos are named relative to its
  // folder, so that both may be moved. The content of another version is passed over, anything else is an error.
  VideoIndexes(const std::string& path, std::span<const uint8_t> content);

  // The index of a video, unless it is not known or the video has changed. Thread-safe, as add().
  Index find(const std::string& video, const storage::Identity& state) const;
  void add(const std::string& video, const storage::Identity& state, Index index);

  bool changed() const { return changed_; }
  int64_t videos() const { return static_cast<int64_t>(known_.size()); }
  int64_t frames() const;
  // Of the file, without videos that are gone.
  std::string content() const;

 private:
  struct Known {
    storage::Identity state;
    Index index;
  };

  std::string name_of(const std::string& video) const;
  void parse(std::span<const uint8_t> content);

  std::string path_, folder_;
  std::map<std::string, Known> known_;
  bool changed_ = false;
  mutable ForkSafe<> mutex_{ForkAware::Rank::reader};
};

}  // namespace avida
