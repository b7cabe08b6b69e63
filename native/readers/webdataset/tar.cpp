#include "readers/webdataset/tar.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"

namespace avida {
namespace {

constexpr int64_t kBlock = kTarBlock;
constexpr int64_t kLongestExtra = 1 << 20;  // bytes of an extended header with a long name or pax records
constexpr int64_t kNear = 4 << 10, kLargestWindow = 64 << 10;
constexpr int64_t kProgressStep = 16 << 20;
constexpr int kProgressMembers = 4096;

// Fields of a header: offset and length.
struct Field {
  int begin, length;
};
constexpr Field kName{0, 100}, kSize{124, 12}, kChecksum{148, 8}, kMagic{257, 8}, kPrefix{345, 155};
constexpr int kType = 156, kSparseGoesOn = 482, kSparseBlockGoesOn = 504;

std::string_view text(const char* header, Field field) {
  const char* begin = header + field.begin;
  return {begin, strnlen(begin, static_cast<size_t>(field.length))};
}

// Octal digits between blanks, or a big-endian number after a byte whose highest bit is set.
std::optional<int64_t> number(const char* header, Field field) {
  auto* bytes = reinterpret_cast<const unsigned char*>(header) + field.begin;
  if (bytes[0] & 0x80) {
    uint64_t value = bytes[0] & 0x7f;
    for (int i = 1; i < field.length; i++) {
      if (value >> 55) return std::nullopt;  // negative, or more than 63 bits
      value = value << 8 | bytes[i];
    }
    return static_cast<int64_t>(value);
  }
  std::string_view digits = text(header, field);
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  digits = digits.substr(0, digits.find(' '));
  if (digits.empty()) return 0;
  int64_t value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
  if (error != std::errc() || end != digits.data() + digits.size() || value < 0) return std::nullopt;
  return value;
}

// The sum of all bytes, with blanks instead of the checksum field. Some old writers summed signed bytes.
template <class Byte>
int64_t checksum(const char* header) {
  int sum = 0;
  for (int i = 0; i < kBlock; i++) sum += static_cast<Byte>(header[i]);
  for (int i = 0; i < kChecksum.length; i++) sum += ' ' - static_cast<Byte>(header[kChecksum.begin + i]);
  return sum;
}

bool has_right_checksum(const char* header) {
  auto sum = number(header, kChecksum);
  return sum == checksum<unsigned char>(header) || sum == checksum<signed char>(header);
}

bool is_regular(char type) { return type == '0' || type == '\0' || type == '7'; }

std::string name_in(const char* header) {
  std::string name(text(header, kName));
  std::string_view prefix = text(header, kPrefix);
  // The GNU format uses the bytes of the prefix for other fields.
  bool posix = std::memcmp(header + kMagic.begin, "ustar\0", 6) == 0;
  return posix && !prefix.empty() ? str(prefix, "/", name) : name;
}

bool is_zero(const char* bytes, int64_t n) {
  return std::all_of(bytes, bytes + n, [](char c) { return c == 0; });
}

class Scanner {
 public:
  Scanner(const storage::Object& file, const std::function<void(const TarMember&)>& on_member,
          const ScanProgress& on_progress)
      : file_(file), on_member_(on_member), on_progress_(on_progress) {}

  void run() {
    if (std::string_view gzip = "\x1f\x8b"; file_.size() >= 2 && gzip == std::string_view(view(0, 2), 2))
      damage("this archive is gzip-compressed: unpack it first");
    for (; !at_end(); is_named_ = false) {
      const char* header = view(at_, kBlock);
      if (is_zero(header, kBlock)) {  // a single zero block may be anywhere
        at_ += kBlock;
        continue;
      }
      read_member(header);
      report();
    }
  }

 private:
  // Attributes from extended headers for the member that follows them.
  struct Extra {
    std::optional<std::string> path;
    std::optional<int64_t> size;
    bool sparse = false;
  };

  bool at_end() {
    int64_t left = file_.size() - at_;
    if (left <= 0) return true;
    int64_t marker = std::min(left, 2 * kBlock);
    const char* bytes = view(at_, std::min(left, kBlock));
    if (bytes[0] == 0 && is_zero(view(at_, marker), marker)) return true;
    if (left < kBlock) damage("expected a header of ", kBlock, " bytes, but the archive ends after ", left);
    return false;
  }

  void read_member(const char* header) {
    if (!has_right_checksum(header)) damage("this is no tar header: its checksum is wrong");
    char type = header[kType];
    bool about_next = type == 'L' || type == 'K' || type == 'x' || type == 'X' || type == 'g';
    if (!about_next) {
      member_ = name(header);
      is_named_ = true;
    }
    auto size = number(header, kSize);
    if (!size) damage("the size in the header is not a number");
    if (about_next) return read_extra(type, *size);

    if (auto& known = next_.size ? next_.size : global_.size) size = known;
    if (type >= '1' && type <= '6') size = 0;  // links, devices, folders and pipes
    int64_t data = at_ + kBlock;
    bool sparse = next_.sparse || global_.sparse || type == 'S';
    if (type == 'S') data = behind_sparse_map(header, data);
    check_size(data, *size);
    int64_t end = check_padding(data + *size);
    bool is_file = is_regular(type) && !sparse;
    if (is_file && member_.empty()) damage("expected a name in the header");
    if (is_file && member_.back() != '/') on_member_({member_, data, *size});
    at_ = end;
    next_ = {};
  }

  std::string name(const char* header) const {
    if (auto& known = next_.path ? next_.path : global_.path) return *known;
    return name_in(header);
  }

  void read_extra(char type, int64_t size) {
    int64_t data = at_ + kBlock;
    check_size(data, size);
    if (type != 'K' && size > kLongestExtra)
      damage("expected a long name or pax records of at most ", kLongestExtra, " bytes, found ", size);
    if (type == 'L') {
      const char* bytes = view(data, size);
      next_.path = std::string(bytes, strnlen(bytes, static_cast<size_t>(size)));
    } else if (type != 'K') {
      read_records({view(data, size), static_cast<size_t>(size)}, type == 'g' ? global_ : next_);
    }
    at_ = check_padding(data + size);
  }

  // Records of a pax header: "LENGTH KEY=VALUE\n", where the length is that of the whole record.
  void read_records(std::string_view records, Extra& extra) const {
    while (!records.empty() && records[0] != 0) {
      size_t length = 0;
      auto [end, error] = std::from_chars(records.data(), records.data() + records.size(), length);
      size_t digits = static_cast<size_t>(end - records.data());
      if (error != std::errc() || length > records.size() || length < digits + 2 || *end != ' ')
        damage("a pax record is damaged");
      std::string_view record = records.substr(digits + 1, length - digits - 2);
      records.remove_prefix(length);
      size_t equals = record.find('=');
      if (equals == record.npos) damage("a pax record has no value");
      std::string_view key = record.substr(0, equals), value = record.substr(equals + 1);
      if (key == "path") {
        extra.path = value;
      } else if (key == "size") {
        int64_t size = -1;
        auto [last, wrong] = std::from_chars(value.data(), value.data() + value.size(), size);
        if (wrong != std::errc() || last != value.data() + value.size() || size < 0)
          damage("the size in a pax record is not a number");
        extra.size = size;
      } else if (key.starts_with("GNU.sparse.")) {
        extra.sparse = true;
      }
    }
  }

  int64_t behind_sparse_map(const char* header, int64_t data) {
    for (bool more = header[kSparseGoesOn]; more; data += kBlock) {
      check_size(data, kBlock);
      more = view(data, kBlock)[kSparseBlockGoesOn];
    }
    return data;
  }

  void check_size(int64_t data, int64_t size) const {
    int64_t left = std::max<int64_t>(0, file_.size() - data);
    if (size > left) damage("expected ", size, " bytes from byte ", data, " on, but the archive ends after ", left);
  }

  // The end of the last block of the member.
  int64_t check_padding(int64_t end) const {
    int64_t padding = (kBlock - end % kBlock) % kBlock, left = file_.size() - end;
    if (padding > left) damage("expected ", padding, " bytes of padding from byte ", end, " on, found only ", left);
    return end + padding;
  }

  // Bytes of the file, valid until the next call. With small members, one read covers many headers.
  const char* view(int64_t offset, int64_t bytes) {
    int64_t end = window_begin_ + static_cast<int64_t>(window_.size());
    if (offset < window_begin_ || offset + bytes > end) {
      bool near = offset >= window_begin_ && offset - end < kNear;
      window_size_ = near ? std::min(2 * window_size_, kLargestWindow) : kBlock;
      window_.resize(static_cast<size_t>(std::min(std::max(window_size_, bytes), file_.size() - offset)));
      window_begin_ = offset;
      file_.read_at(offset, window_.data(), static_cast<int64_t>(window_.size()));
    }
    return window_.data() + (offset - window_begin_);
  }

  void report() {
    if (!on_progress_ || (at_ - reported_ < kProgressStep && ++unreported_ < kProgressMembers)) return;
    reported_ = at_;
    unreported_ = 0;
    on_progress_(at_);
  }

  template <class... Parts>
  [[noreturn]] void damage(const Parts&... parts) const {
    const char* relation = member_.empty() ? "" : is_named_ ? ", member " : ", after member ";
    refuse("byte ", at_, relation, member_, ": ", parts...);
  }

  const storage::Object& file_;
  const std::function<void(const TarMember&)>& on_member_;
  const ScanProgress& on_progress_;
  int64_t at_ = 0;         // the offset of the header
  std::string member_;     // the name of the member, or of the previous one
  bool is_named_ = false;  // which of the two
  Extra next_, global_;
  std::vector<char> window_;
  int64_t window_begin_ = 0, window_size_ = kBlock;
  int64_t reported_ = 0;
  int unreported_ = 0;
};

}  // namespace

std::optional<TarHeader> read_tar_header(const char* block) {
  auto size = number(block, kSize);
  if (!size || !is_regular(block[kType]) || !has_right_checksum(block)) return std::nullopt;
  return TarHeader{name_in(block), *size};
}

void scan_tar(const storage::Object& file, const std::function<void(const TarMember&)>& on_member,
              const ScanProgress& on_progress) {
  Scanner(file, on_member, on_progress).run();
}

}  // namespace avida
