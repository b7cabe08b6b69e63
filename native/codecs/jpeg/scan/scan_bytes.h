// The entropy-coded data of a JPEG scan without its stuffed zeros, a chunk at a time.
#pragma once
#include <algorithm>
#include <cstring>

#include "codecs/codec.h"

namespace avida::codecs {

// Chunks lie in a small buffer that stays in cache. Reading never has to look for markers: before each block there are
// kAhead bytes to read, and zeros follow the data of a restart interval.
class ScanBytes {
 public:
  static constexpr int kAhead = 320;  // more than the bytes of a block, which has up to 64 times 31 bits

  explicit ScanBytes(Bytes data) : rest_(data) { fill(); }
  ScanBytes(const ScanBytes&) = delete;

  // Where to read next, and up to where a block may begin without a call of more().
  const uint8_t* begin() const { return memory_; }
  const uint8_t* safe_end() const { return ended_ ? end_ + 8 : end_ - kAhead; }

  // Moves what is left from `at` on to the beginning of the buffer and fills it up. Returns false at the end of the
  // interval's data: what was read is not in the file.
  bool more(const uint8_t*& at) {
    if (ended_) return false;
    const size_t left = static_cast<size_t>(end_ - at);
    std::memmove(memory_, at, left);
    end_ = memory_ + left;
    at = memory_;
    fill();
    return true;
  }

  // The bytes from `at` on that are in the buffer; below 0 if `at` is past the end of the interval.
  int64_t buffered(const uint8_t* at) const { return end_ - at; }
  // An estimate of all that are left of the interval.
  int64_t unread(const uint8_t* at) const { return buffered(at) + (ended_ ? 0 : static_cast<int64_t>(rest_.size())); }
  bool ended() const { return ended_; }
  // Goes on in a larger buffer, which has `size` bytes, at least kSize, and room for kMargin more.
  void use_buffer(uint8_t* memory, int64_t size, const uint8_t*& at) {
    const size_t left = static_cast<size_t>(end_ - at);
    std::memcpy(memory, at, left + kMargin);
    memory_ = memory;
    size_ = size;
    end_ = memory + left;
    at = memory;
    if (!ended_) fill();
  }

  // The bytes from `at` to the end of the interval, or 1 << 20 if they are too many for the buffer.
  int64_t left(const uint8_t*& at) {
    if (!ended_) more(at);
    return ended_ ? end_ - at : 1 << 20;
  }
  // The second byte of the marker that ends the interval, or 0 at the end of the file.
  int marker() const { return rest_.size() >= 2 ? rest_[1] : 0; }
  // Whether the interval ends soon after `at`, and something else follows, such as 0xFF as a fill byte.
  bool ends_without_marker(const uint8_t* at) const {
    return ended_ && end_ - at < kSize && (!marker() || marker() == 0xFF);
  }
  // What follows the interval, from the marker on.
  Bytes rest() const { return rest_; }
  // Goes on after the marker.
  void next_interval() {
    rest_ = rest_.subspan(std::min<size_t>(rest_.size(), 2));
    end_ = memory_;
    ended_ = false;
    fill();
  }

  static constexpr int kMargin = 2 * kAhead, kSize = 8 << 10;

 private:
  // Copies up to the marker, or until the buffer is full.
  void fill() {
    uint8_t* const full = memory_ + size_;
    while (end_ < full) {
      const size_t most = std::min<size_t>(rest_.size(), static_cast<size_t>(full - end_));
      const void* found = most ? std::memchr(rest_.data(), 0xFF, most) : nullptr;
      const size_t plain = found ? static_cast<const uint8_t*>(found) - rest_.data() : most;
      std::memcpy(end_, rest_.data(), plain);
      end_ += plain;
      rest_ = rest_.subspan(plain);
      if (!found && !rest_.empty()) return;  // it is full
      if (rest_.size() < 2 || rest_[1] != 0) {
        ended_ = true;
        std::memset(end_, 0, kMargin);
        return;
      }
      *end_++ = 0xFF;
      rest_ = rest_.subspan(2);
    }
  }

  Bytes rest_;
  bool ended_ = false;
  uint8_t* memory_ = buffer_;
  int64_t size_ = kSize;
  uint8_t* end_ = buffer_;
  uint8_t buffer_[kSize + kMargin];
};

}  // namespace avida::codecs
