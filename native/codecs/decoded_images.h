// Decoded images that are kept for the next time the same bytes are decoded in the same way.
#pragma once
#include <cstdint>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include "codecs/image.h"
#include "core/data.h"
#include "runtime/fork.h"

namespace avida::codecs {

// Thread-safe, also in a forked child, which has its own from then on.
class DecodedImages {
 public:
  static DecodedImages& instance();

  // A file is known by all of its bytes: names may lead to other files by then.
  struct Key {
    Bytes file;
    ImageRequest request;
    uint64_t hash;
  };
  static Key key(Bytes file, const ImageRequest& request);

  // Copies the pixels; false where they are not there, or are not so many bytes.
  bool find(const Key& key, void* pixels, int64_t bytes);

  struct Rules {
    int64_t limit = 0;      // bytes, of all images with their files
    int64_t threshold = 0;  // smaller images are not kept, in bytes of pixels
    bool largest = false;   // smaller ones make room for larger ones
  };
  // Whether an image of these bytes would be kept now.
  bool wants(int64_t file_bytes, int64_t bytes, const Rules& rules);
  // Keeps copies, unless there is no room any more.
  void add(const Key& key, const void* pixels, int64_t bytes, const Rules& rules);

  struct Use {
    int64_t images, bytes, hits, misses;
  };
  Use use();
  void clear();

 private:
  struct Image {
    Block file, pixels;
    int64_t file_bytes, bytes;
    ImageRequest request;

    int64_t size() const { return file_bytes + bytes; }
    bool is(const Key& key) const;
  };
  using ImagePtr = std::shared_ptr<const Image>;  // read without the lock

  bool has_room(int64_t size, const Rules& rules) const;

  ForkSafe<> mutex_{ForkAware::Rank::reader};
  std::unordered_map<uint64_t, ImagePtr> images_;   // by the hash; of two files with the same one, the first
  std::set<std::pair<int64_t, uint64_t>> by_size_;  // sizes with hashes
  int64_t bytes_ = 0, hits_ = 0, misses_ = 0;
};

}  // namespace avida::codecs
