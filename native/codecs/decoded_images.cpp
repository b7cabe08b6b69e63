#include "codecs/decoded_images.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "core/crc32c.h"
#include "runtime/memory.h"

namespace avida::codecs {
namespace {

DecodedImages* const images = new DecodedImages;  // while the library is loaded, and never destroyed

Block copied(const void* data, int64_t bytes) {
  Block block = allocate(bytes);
  std::memcpy(block.get(), data, static_cast<size_t>(bytes));
  return block;
}

}  // namespace

DecodedImages& DecodedImages::instance() { return *images; }

DecodedImages::Key DecodedImages::key(Bytes file, const ImageRequest& request) {
  const int64_t bytes = std::ssize(file);
  const int64_t of_request[] = {static_cast<int64_t>(request.type),
                                static_cast<int64_t>(request.dtype),
                                request.adjust_orientation,
                                request.fast_idct,
                                request.least_height,
                                request.least_width,
                                request.least_side,
                                request.page,
                                bytes};
  const uint64_t of_file = crc32c(file.data(), bytes), of_all = crc32c(of_request, sizeof(of_request));
  return {file, request, of_file << 32 | of_all};
}

bool DecodedImages::Image::is(const Key& key) const {
  return request == key.request && file_bytes == std::ssize(key.file) &&
         std::memcmp(file.get(), key.file.data(), key.file.size()) == 0;
}

bool DecodedImages::find(const Key& key, void* pixels, int64_t bytes) {
  ImagePtr image;
  {
    std::lock_guard lock(mutex_);
    if (const auto found = images_.find(key.hash); found != images_.end()) image = found->second;
  }
  const bool is_there = image && image->bytes == bytes && image->is(key);
  if (is_there) std::memcpy(pixels, image->pixels.get(), static_cast<size_t>(bytes));
  std::lock_guard lock(mutex_);
  (is_there ? hits_ : misses_)++;
  return is_there;
}

// Called with the lock.
bool DecodedImages::has_room(int64_t size, const Rules& rules) const {
  int64_t smaller = 0;
  if (rules.largest)
    for (auto& [each, hash] : by_size_) {
      if (each >= size || bytes_ - smaller + size <= rules.limit) break;
      smaller += each;
    }
  return bytes_ - smaller + size <= rules.limit;
}

bool DecodedImages::wants(int64_t file_bytes, int64_t bytes, const Rules& rules) {
  if (bytes < rules.threshold) return false;
  std::lock_guard lock(mutex_);
  return has_room(file_bytes + bytes, rules);
}

void DecodedImages::add(const Key& key, const void* pixels, int64_t bytes, const Rules& rules) {
  const int64_t file_bytes = std::ssize(key.file);
  auto image = std::make_shared<const Image>(
      Image{copied(key.file.data(), file_bytes), copied(pixels, bytes), file_bytes, bytes, key.request});
  std::lock_guard lock(mutex_);
  if (images_.contains(key.hash) || !has_room(image->size(), rules)) return;
  while (bytes_ + image->size() > rules.limit) {
    const auto [size, hash] = *by_size_.begin();
    by_size_.erase(by_size_.begin());
    images_.erase(hash);
    bytes_ -= size;
  }
  bytes_ += image->size();
  by_size_.emplace(image->size(), key.hash);
  images_.emplace(key.hash, std::move(image));
}

DecodedImages::Use DecodedImages::use() {
  std::lock_guard lock(mutex_);
  return {std::ssize(images_), bytes_, hits_, misses_};
}

void DecodedImages::clear() {
  decltype(images_) removed;  // ends after the lock is released
  std::lock_guard lock(mutex_);
  removed.swap(images_);
  by_size_.clear();
  bytes_ = hits_ = misses_ = 0;
}

}  // namespace avida::codecs
