#include "codecs/video/mp4_boxes.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "codecs/bytes.h"
#include "codecs/limits.h"

namespace avida::codecs {
namespace {

constexpr int64_t kBoxSteps = 4096;  // of work: a box takes libavformat a microsecond or two
constexpr int kMostDepth = 10;       // that of libavformat
constexpr std::string_view kContainers[] = {"dinf", "edts", "gmhd", "ilst", "ipco", "iprp", "mdia", "mfra",
                                            "minf", "moof", "moov", "mvex", "schi", "sinf", "stbl", "traf",
                                            "trak", "tref", "udta", "wave", "meta", "stsd"};

class Boxes {
 public:
  explicit Boxes(const storage::Object& file) : file_(file) {}

  // Those between two offsets, and what is in them.
  void count(int64_t at, int64_t end, int depth = 0) {
    while (at + 8 <= end) {
      const Bytes head = bytes(at, std::min<int64_t>(16, end - at));
      const std::string_view kind(reinterpret_cast<const char*>(head.data()) + 4, 4);
      const bool is_container = std::ranges::find(kContainers, kind) != std::end(kContainers);
      const bool is_meta = kind == "meta", is_list = kind == "stsd";
      int64_t size = big_endian(head, 0, 4), begin = 8;
      if (size == 1 && head.size() == 16)
        size = static_cast<int64_t>(big_endian(head, 8, 4) & 0x7fffffff) << 32 | big_endian(head, 12, 4), begin = 16;
      if (size == 0) size = end - at;
      if (size < begin) return;
      size = std::min(size, end - at);
      check_work(++count_, "boxes", kBoxSteps);
      const int64_t inside = at + begin, after = at + size;
      if (is_container && depth < kMostDepth) {
        if (is_list)
          count_descriptions(inside + 8, after, depth + 1);
        else
          count(inside + (is_meta ? 4 : 0), after, depth + 1);
      }
      at = after;
    }
  }

 private:
  // Those of samples have boxes behind fields, of pictures or of sound.
  void count_descriptions(int64_t at, int64_t end, int depth) {
    while (at + 8 <= end) {
      const int64_t size = big_endian(bytes(at, 8), 0, 4);
      if (size < 8) return;
      const int64_t after = std::min(at + size, end);
      for (const int64_t fields : {78, 28}) count(at + 8 + fields, after, depth + 1);
      at = after;
      check_work(++count_, "boxes", kBoxSteps);
    }
  }

  Bytes bytes(int64_t at, int64_t count) {
    if (at < window_at_ || at + count > window_at_ + window_bytes_) {
      window_bytes_ = std::min<int64_t>(window_.size(), file_.size() - at);
      file_.read_at(at, window_.data(), window_bytes_);
      window_at_ = at;
    }
    return {window_.data() + (at - window_at_), static_cast<size_t>(count)};
  }

  const storage::Object& file_;
  std::array<uint8_t, 4096> window_;
  int64_t window_at_ = 0, window_bytes_ = 0, count_ = 0;
};

}  // namespace

void check_boxes(const storage::Object& file) { Boxes(file).count(0, file.size()); }

}  // namespace avida::codecs
