// BlockCutter: cuts samples that lie one behind the other in files into blocks.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace avida {

class BlockCutter {
 public:
  // The next sample, which has these bytes of a file. One without bytes belongs to the block before it.
  void add(size_t file, int64_t begin, int64_t end) {
    const int64_t from = std::min(begin_, begin), to = std::max(end_, end);
    if (firsts_.empty() || (begin < end && (file != file_ || to - from > kBytes))) {
      firsts_.push_back(samples_);
      file_ = file;
      begin_ = begin;
      end_ = end;
    } else if (begin < end) {
      begin_ = from;
      end_ = to;
    }
    samples_++;
  }
  std::vector<int64_t> firsts() && { return std::move(firsts_); }

 private:
  // Two requests. A block is larger if its only sample is.
  static constexpr int64_t kBytes = 16 << 20;

  std::vector<int64_t> firsts_;
  int64_t samples_ = 0;
  size_t file_ = 0;
  int64_t begin_ = 0, end_ = 0;  // of the newest block
};

}  // namespace avida
