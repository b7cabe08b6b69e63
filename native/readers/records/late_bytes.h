// Parses messages from files; long strings are read later, straight to their destination.
#pragma once
#include <string_view>

#include "core/data.h"
#include "readers/records/protobuf.h"
#include "storage/storage.h"

namespace avida {

// Memory for a range of a file, of which one part, the gap, is not read yet: at first everything but the beginning.
// Bytes that are needed shortly after it move the beginning of the gap. When bytes after a long string are needed for
// the first time, everything from there on is read, and the gap ends there.
class LateBytes : public ProtobufPieces {
 public:
  static constexpr int64_t kWindow = 2048;           // the minimum size of a read
  static constexpr int64_t kLongString = 16 * 1024;  // strings from this size on are read late

  LateBytes(const storage::Object& file, int64_t offset) : file_(file), offset_(offset) {}
  // Sets the size of the range, and the bytes that are known.
  void start(int64_t size, std::string_view beginning = {});

  std::string_view all() const { return {bytes_, static_cast<size_t>(size_)}; }
  std::string_view before_gap() const { return {bytes_, static_cast<size_t>(gap_begin_)}; }
  std::string_view gap() const { return {bytes_ + gap_begin_, static_cast<size_t>(gap_end_ - gap_begin_)}; }
  std::string_view after_gap() const { return {bytes_ + gap_end_, static_cast<size_t>(size_ - gap_end_)}; }

  void need(std::string_view piece) override;
  void need_all();
  bool is_late(std::string_view piece) const {
    return !piece.empty() && piece.data() < bytes_ + gap_end_ && piece.data() + piece.size() > bytes_ + gap_begin_;
  }
  // Copies a piece; its part in the gap is read from the file.
  void copy(std::string_view piece, void* to) const;

 private:
  void load(int64_t begin, int64_t end) { file_.read_at(offset_ + begin, bytes_ + begin, end - begin); }

  const storage::Object& file_;
  int64_t offset_, size_ = 0, gap_begin_ = 0, gap_end_ = 0;
  Block block_;
  char* bytes_ = nullptr;
};

}  // namespace avida
