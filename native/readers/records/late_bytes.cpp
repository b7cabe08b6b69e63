#include "readers/records/late_bytes.h"

#include <algorithm>
#include <cstring>

#include "runtime/memory.h"

namespace avida {

void LateBytes::start(int64_t size, std::string_view beginning) {
  size_ = gap_end_ = size;
  gap_begin_ = std::min(size, std::ssize(beginning));
  block_ = allocate(size);
  bytes_ = static_cast<char*>(block_.get());
  if (gap_begin_ > 0) std::memcpy(bytes_, beginning.data(), static_cast<size_t>(gap_begin_));
}

void LateBytes::need(std::string_view piece) {
  if (piece.empty()) return;
  int64_t begin = piece.data() - bytes_, end = begin + std::ssize(piece);
  if (end <= gap_begin_ || begin >= gap_end_) return;
  if (gap_end_ == size_ && begin - gap_begin_ >= kLongString) {
    load(begin, size_);
    gap_end_ = begin;
  } else {
    end = std::min(std::max({end, begin + kWindow, gap_begin_ + kWindow}), gap_end_);
    load(gap_begin_, end);
    gap_begin_ = end;
  }
}

void LateBytes::need_all() {
  load(gap_begin_, gap_end_);
  gap_begin_ = gap_end_ = size_;
}

void LateBytes::copy(std::string_view piece, void* to) const {
  if (piece.empty()) return;
  int64_t begin = piece.data() - bytes_, end = begin + std::ssize(piece);
  int64_t late_begin = std::clamp(gap_begin_, begin, end), late_end = std::clamp(gap_end_, begin, end);
  char* out = static_cast<char*>(to);
  std::memcpy(out, bytes_ + begin, static_cast<size_t>(late_begin - begin));
  file_.read_at(offset_ + late_begin, out + (late_begin - begin), late_end - late_begin);
  std::memcpy(out + (late_end - begin), bytes_ + late_end, static_cast<size_t>(end - late_end));
}

}  // namespace avida
