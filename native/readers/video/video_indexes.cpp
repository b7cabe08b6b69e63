#include "readers/video/video_indexes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "codecs/video/media_stream.h"
#include "core/crc32c.h"
#include "core/error.h"
#include "storage/names.h"

namespace avida {
namespace {

constexpr std::string_view kBeginning = "avida videos ";

// The rest of the first line.
std::string version() { return str("2, libavformat ", codecs::demuxer_version(), '\n'); }

// Integers of seven bits to a byte, the lowest first; signed ones alternate between the signs, so that small ones are
// short.
class IndexWriter {
 public:
  explicit IndexWriter(std::string& to) : to_(to) {}
  void number(uint64_t value) {
    for (; value >= 0x80; value >>= 7) to_.push_back(static_cast<char>(value | 0x80));
    to_.push_back(static_cast<char>(value));
  }
  void integer(int64_t value) { number(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63)); }
  // How far a value is from the one before. The lowest integer stands for no time: differences may wrap around.
  void difference(int64_t value, int64_t from) {
    integer(static_cast<int64_t>(static_cast<uint64_t>(value) - static_cast<uint64_t>(from)));
  }
  void bytes(const void* data, size_t size) { to_.append(static_cast<const char*>(data), size); }

 private:
  std::string& to_;
};

// Throws std::out_of_range where the data ends or a number is too large.
class IndexReader {
 public:
  explicit IndexReader(std::span<const uint8_t> data) : data_(data) {}
  bool at_end() const { return data_.empty(); }
  uint64_t number() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = *take(1);
      value |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    throw std::out_of_range("number");
  }
  int64_t integer() {
    const uint64_t value = number();
    return static_cast<int64_t>(value >> 1 ^ -(value & 1));
  }
  int64_t difference(int64_t from) {
    return static_cast<int64_t>(static_cast<uint64_t>(from) + static_cast<uint64_t>(integer()));
  }
  // Of elements that take at least a byte each.
  size_t count() {
    const uint64_t value = number();
    if (value > data_.size()) throw std::out_of_range("count");
    return static_cast<size_t>(value);
  }
  const uint8_t* take(size_t size) {
    if (size > data_.size()) throw std::out_of_range("bytes");
    const uint8_t* taken = data_.data();
    data_ = data_.subspan(size);
    return taken;
  }

 private:
  std::span<const uint8_t> data_;
};

void write(IndexWriter& to, const codecs::VideoIndex& index) {
  to.number(static_cast<uint64_t>(index.height));
  to.number(static_cast<uint64_t>(index.width));
  to.number(index.has_times);
  to.bytes(&index.unit, sizeof(index.unit));
  to.number(index.times.size());
  int64_t last = 0;
  for (int64_t time : index.times) to.difference(time, std::exchange(last, time));
  to.number(index.keys.size());
  for (const codecs::VideoIndex::Key& key : index.keys) {
    to.integer(key.frame);
    to.integer(key.pts);
    to.difference(key.dts, key.pts);
  }
}

void check(const codecs::VideoIndex& index) {
  constexpr int most = 1 << 18;
  constexpr int64_t latest = int64_t{1} << 61;  // so that differences do not overflow
  bool good = index.height > 0 && index.height <= most && index.width > 0 && index.width <= most;
  good &= std::isfinite(index.unit) && index.unit > 0;
  for (int64_t time : index.times) good &= -latest < time && time < latest;
  for (size_t i = 1; i < index.times.size(); i++) good &= index.times[i - 1] < index.times[i];
  for (const codecs::VideoIndex::Key& key : index.keys) good &= key.frame >= 0 && key.frame <= index.frames();
  good &= std::ranges::is_sorted(index.keys, {}, &codecs::VideoIndex::Key::frame);
  if (!good || index.times.empty()) throw std::out_of_range("index");
}

codecs::VideoIndex read_index(IndexReader& from) {
  codecs::VideoIndex index;
  index.height = static_cast<int>(std::min(from.number(), uint64_t{INT32_MAX}));
  index.width = static_cast<int>(std::min(from.number(), uint64_t{INT32_MAX}));
  index.has_times = from.number() != 0;
  std::memcpy(&index.unit, from.take(sizeof(index.unit)), sizeof(index.unit));
  index.times.resize(from.count());
  int64_t last = 0;
  for (int64_t& time : index.times) time = last = from.difference(last);
  index.keys.resize(from.count());
  for (codecs::VideoIndex::Key& key : index.keys) {
    key.frame = from.integer();
    key.pts = from.integer();
    key.dts = from.difference(key.pts);
  }
  check(index);
  return index;
}

}  // namespace

VideoIndexes::VideoIndexes(const std::string& path, std::span<const uint8_t> content)
    : path_(path), folder_(storage::folder_of(storage::full_name(path))) {
  try {
    if (!content.empty()) parse(content);
  } catch (const std::out_of_range&) {
    refuse(path_, ": the index of videos is damaged; remove it, and it will be made again");
  }
}

void VideoIndexes::parse(std::span<const uint8_t> content) {
  const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
  uint32_t checksum;
  if (!text.starts_with(kBeginning))
    refuse(path_, ": expected an index of videos, as `avida index FOLDER` makes it, found another file");
  const size_t line = text.find('\n') + 1;
  if (line == 0 || content.size() < line + sizeof(checksum)) throw std::out_of_range("checksum");
  if (text.substr(kBeginning.size(), line - kBeginning.size()) != version()) return;
  const size_t size = content.size() - sizeof(checksum);
  std::memcpy(&checksum, content.data() + size, sizeof(checksum));
  if (crc32c(content.data(), static_cast<int64_t>(size)) != checksum) throw std::out_of_range("checksum");
  IndexReader from(content.subspan(line, size - line));
  while (!from.at_end()) {
    const size_t length = from.count();
    std::string name(reinterpret_cast<const char*>(from.take(length)), length);
    Known known;
    known.state.size = from.integer();
    const size_t digits = from.count();
    known.state.version.assign(reinterpret_cast<const char*>(from.take(digits)), digits);
    known.index = std::make_shared<codecs::VideoIndex>(read_index(from));
    known_.insert_or_assign(std::move(name), std::move(known));
  }
}

std::string VideoIndexes::name_of(const std::string& video) const {
  return storage::relative_name(storage::full_name(video), folder_);
}

VideoIndexes::Index VideoIndexes::find(const std::string& video, const storage::Identity& state) const {
  const std::string name = name_of(video);
  std::lock_guard lock(mutex_);
  auto found = known_.find(name);
  return found != known_.end() && found->second.state == state ? found->second.index : nullptr;
}

void VideoIndexes::add(const std::string& video, const storage::Identity& state, Index index) {
  std::string name = name_of(video);
  std::lock_guard lock(mutex_);
  known_.insert_or_assign(std::move(name), Known{state, std::move(index)});
  changed_ = true;
}

int64_t VideoIndexes::frames() const {
  int64_t frames = 0;
  for (auto& [name, known] : known_) frames += known.index->frames();
  return frames;
}

std::string VideoIndexes::content() const {
  std::string content = std::string(kBeginning) + version();
  IndexWriter to(content);
  for (auto& [name, known] : known_) {
    // Without "..", since the folder need not be there yet.
    if (!storage::exists(storage::full_name(storage::name_in(folder_, name)))) continue;
    to.number(name.size());
    to.bytes(name.data(), name.size());
    to.integer(known.state.size);
    to.number(known.state.version.size());
    to.bytes(known.state.version.data(), known.state.version.size());
    write(to, *known.index);
  }
  const uint32_t checksum = crc32c(content.data(), static_cast<int64_t>(content.size()));
  to.bytes(&checksum, sizeof(checksum));
  return content;
}

}  // namespace avida
