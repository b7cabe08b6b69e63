#include "loops/decoding/plain_jpeg.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "codecs/jpeg/sequential_header.h"

namespace avida::codecs {
namespace {

constexpr size_t kSegmentBytes = JpegSegment::kMostBits / 8, kChunkBytes = 4 * kSegmentBytes;
constexpr size_t kPartBytes = JpegSegment::kPartBits / 8, kLeadBytes = JpegSegment::kMostLead * kPartBytes;
constexpr int kRestart = 0xD0;

// The codes in the form that kernels read.
JpegCode device_code(const HuffmanCode& from) {
  JpegCode code{};
  std::copy_n(from.symbols, 256, code.symbols);
  for (int length = 1, next = 0, at = 0; length <= 16; length++, next <<= 1) {
    const int n = from.counts[length - 1];
    code.offset[length] = at - next;
    at += n;
    next += n;
    code.last[length] = n ? (next << (16 - length)) - 1 : -1;
  }
  return code;
}

// Whether the file is baseline, with two tables of each kind, or progressive, with factors of 8 bits.
bool is_usual(const SequentialHeader& header) {
  return !header.extended && std::all_of(header.component, header.component + header.components, [&](const auto& one) {
    const uint16_t* factors = header.quantization[one.quantization];
    return one.dc < 2 && one.ac < 2 && std::all_of(factors, factors + 64, [](uint16_t factor) { return factor < 256; });
  });
}

// Up to the first scan, which has to be the only one unless the file is progressive.
std::optional<SequentialHeader> read_header(Bytes file) {
  JpegSegments found;
  Bytes rest = file.subspan(std::min<size_t>(file.size(), 2)), scan;
  if (!found.read_to_scan(rest, scan)) return {};
  if (found.progressive ? found.interval || !found.is_complete() : !found.read_scan(scan)) return {};
  return found;
}

// Appends the code of symbol 0, which is no difference of DC coefficients, or the end of a block. Returns false if
// there is none.
bool append_zero(const HuffmanCode& code, EmptyGroup& group) {
  for (int length = 1, next = 0, at = 0; length <= 16; length++, next <<= 1)
    for (int i = 0; i < code.counts[length - 1]; i++, next++)
      if (code.symbols[at++] == 0) {
        for (int bit = length - 1; bit >= 0; bit--) group.bits[group.count++] = next >> bit & 1;
        return true;
      }
  return false;
}

bool is_set(const uint8_t* bytes, size_t bit) { return bytes[bit / 8] >> (7 - bit % 8) & 1; }

// Consecutive empty groups: the bytes from `begin` to `end` repeat those before.
struct EmptyGroups {
  const uint8_t *begin, *end;
  unsigned over;  // the bits from `end` to the next group
};

// Finds empty groups in the data of a scan. Decoders that begin among them may never synchronise.
class EmptySearch {
 public:
  EmptySearch(const EmptyGroup& group) : group_(group), bytes_(group.count / std::gcd(std::max(group.count, 1), 8)) {}

  // The bytes after which they repeat, and the groups in them.
  size_t period() const { return bytes_; }
  unsigned groups() const { return static_cast<unsigned>(8 * bytes_) / static_cast<unsigned>(group_.count); }

  // The next ones from `at` on; `begin` is `end` of the data if there are none.
  EmptyGroups find(const uint8_t* at, const uint8_t* end) const {
    constexpr int kStep = 64, kSame = 8;
    if (!bytes_) return {end, end, 0};
    const uint8_t* from = at;
    while (end - at > static_cast<ptrdiff_t>(bytes_ + kStep)) {
      if (std::memcmp(at, at + bytes_, kSame) != 0) {
        at += kStep;
        continue;
      }
      const uint8_t* first = at;
      while (first > from && first[-1] == first[bytes_ - 1]) first--;
      while (end - at > static_cast<ptrdiff_t>(bytes_) && at[0] == at[bytes_]) at++;
      if (const auto found = within(first, at + bytes_)) return *found;
    }
    return {end, end, 0};
  }

 private:
  // Some bytes are kept on both sides: the codes before the first group may reach into them.
  std::optional<EmptyGroups> within(const uint8_t* first, const uint8_t* end) const {
    constexpr size_t kWorth = 256, kMargin = 48;
    const auto size = static_cast<size_t>(end - first), kept = 2 * (bytes_ + kMargin);
    if (size < kept + kWorth) return {};
    EmptyGroups found{first + kept / 2, first + kept / 2 + (size - kept) / bytes_ * bytes_, 0};
    const auto n = static_cast<size_t>(group_.count);
    for (size_t shift = 0; shift < n; shift++) {
      size_t bit = 0;
      while (bit < 8 * bytes_ && is_set(found.end, shift + bit) == group_.bits[bit % n]) bit++;
      if (bit < 8 * bytes_) continue;
      if (shift <= JpegState::kMostOver) found.over = static_cast<unsigned>(shift);
      return found;
    }
    return {};
  }

  const EmptyGroup& group_;
  const size_t bytes_;
};

// Copies data without the zeros that are stuffed in.
class Copier {
 public:
  Copier(Bytes data, size_t at, uint8_t* to) : data_(data), at_(at), to_(to) {}

  uint8_t* end() const { return to_; }
  // Up to byte `limit` of the data, or to a marker; returns its second byte, 0 if there is none, kBroken at the end of
  // the data.
  int copy(size_t limit) {
    while (at_ < limit) {
      const void* found = std::memchr(data_.data() + at_, 0xFF, limit - at_);
      const size_t next = found ? static_cast<const uint8_t*>(found) - data_.data() : limit;
      std::memcpy(to_, data_.data() + at_, next - at_);
      to_ += next - at_;
      at_ = next;
      if (!found) break;
      if (at_ + 1 >= data_.size()) return PlainJpeg::kBroken;
      if (const int marker = data_[at_ + 1]) return marker;
      *to_++ = 0xFF;
      at_ += 2;
    }
    return at_ >= data_.size() ? PlainJpeg::kBroken : 0;
  }
  void skip_marker() { at_ += 2; }
  void pad(size_t zeros) {
    std::memset(to_, 0, zeros);
    to_ += zeros;
  }

 private:
  const Bytes data_;
  size_t at_;
  uint8_t* to_;
};

// Divides the bytes of an interval into segments; those before `at` are its too. `like` has what all have in common.
void cut(const PlainJpeg& plain, const uint8_t* begin, const uint8_t* at, const uint8_t* end, JpegSegment like,
         std::vector<JpegSegment>& made) {
  const EmptySearch search(plain.empty);
  while (at < end) {
    const EmptyGroups next = search.find(at, end);
    while (at < next.begin) {
      JpegSegment& segment = made.emplace_back(like);
      const size_t bytes = std::min<size_t>(kSegmentBytes, next.begin - at);
      const size_t parts = like.skipped ? 0 : std::min<size_t>(kLeadBytes, at - begin) / kPartBytes;
      const uint8_t* from = at - parts * kPartBytes;
      const size_t over = reinterpret_cast<uintptr_t>(from) % 4;
      segment.bytes = from - over;
      segment.lead = static_cast<int>(parts);
      segment.first = static_cast<unsigned>(8 * (over + parts * kPartBytes));
      segment.count = static_cast<unsigned>(8 * bytes);
      like.guess = like.skipped = 0;
      at += bytes;
    }
    if (next.begin == end) return;
    like.period = static_cast<unsigned>(8 * search.period());
    like.period_blocks = search.groups() * static_cast<unsigned>(plain.scan.blocks);
    like.skipped = static_cast<unsigned>((next.end - next.begin) / search.period()) * like.period_blocks;
    like.guess = JpegState::of(next.over, 0, 0).packed;
    at = next.end;
  }
}

}  // namespace

int64_t PlainJpeg::samples() const {
  return std::accumulate(plane, plane + planes, int64_t{0}, [](int64_t sum, auto& one) { return sum + one.samples(); });
}

std::optional<PlainJpeg> read_plain_jpeg(Bytes file) {
  const auto header = read_header(file);
  if (!header || !is_usual(*header)) return {};
  SequentialHeader found = *header;
  PlainJpeg plain{.planes = found.components,
                  .columns = 1,
                  .rows = 1,
                  .progressive = found.progressive,
                  .interval = found.interval,
                  .data = found.data};
  auto& [luma, chroma, other] = found.component;
  if (plain.planes == 1) {
    luma.columns = luma.rows = 1;  // the groups of a single component are blocks
  } else {
    for (const auto& one : found.component)
      if (one.columns > 2 || one.rows > 2) return {};
    if (!found.is_ycbcr() || chroma.columns != other.columns || chroma.rows != other.rows ||
        luma.columns % chroma.columns || luma.rows % chroma.rows)
      return {};
    plain.columns = luma.columns / chroma.columns;
    plain.rows = luma.rows / chroma.rows;
    if (plain.rows > plain.columns) return {};
  }
  JpegScan& scan = plain.scan;
  for (int i = 0; i < 2; i++) {
    scan.codes[i] = device_code(found.dc[i]);
    scan.codes[2 + i] = device_code(found.ac[i]);
  }
  int before = 0;
  bool has_empty = true;
  for (int c = 0; c < plain.planes; c++) {
    const SequentialHeader::Component& component = found.component[c];
    const int columns = c ? plain.columns : 1, rows = c ? plain.rows : 1;
    const int width = (found.width + columns - 1) / columns, height = (found.height + rows - 1) / rows;
    plain.plane[c] = {width, height, (width + 7) / 8 * 8, (height + 7) / 8 * 8};
    JpegScan::Plane& plane = scan.plane[c];
    plane.before = before;
    plane.columns = (width + 7) / 8;
    plane.rows = (height + 7) / 8;
    plane.group_columns = component.columns;
    plane.group_rows = component.rows;
    before += plane.columns * plane.rows;
    std::copy_n(found.quantization[component.quantization], 64, plane.factors);
    for (int row = 0; row < component.rows; row++)
      for (int column = 0; column < component.columns; column++) {
        if (scan.blocks == JpegScan::kMostBlocks) return {};
        scan.second_dc |= static_cast<uint32_t>(component.dc) << scan.blocks;
        scan.second_ac |= static_cast<uint32_t>(component.ac) << scan.blocks;
        has_empty = has_empty && append_zero(found.dc[component.dc], plain.empty) &&
                    append_zero(found.ac[component.ac], plain.empty);
        scan.place[scan.blocks++] = {static_cast<uint8_t>(c), static_cast<uint8_t>(row), static_cast<uint8_t>(column),
                                     0};
      }
  }
  if (!has_empty) plain.empty.count = 0;
  const uint32_t all = (1u << scan.blocks) - 1;
  scan.period = scan.second_dc % all || scan.second_ac % all ? scan.blocks : 1;
  const int most_columns = std::max(luma.columns, chroma.columns), most_rows = std::max(luma.rows, chroma.rows);
  scan.group_columns = (found.width + 8 * most_columns - 1) / (8 * most_columns);
  const int group_rows = (found.height + 8 * most_rows - 1) / (8 * most_rows);
  plain.groups = scan.group_columns * group_rows;
  for (int c = 0; c < plain.planes; c++)  // all blocks are written
    if (scan.group_columns * scan.plane[c].group_columns < scan.plane[c].columns ||
        group_rows * scan.plane[c].group_rows < scan.plane[c].rows)
      return {};
  if (plain.progressive) {  // planes are whole groups
    for (int c = 0; c < plain.planes; c++) {
      plain.plane[c].stride = int64_t{8} * scan.group_columns * scan.plane[c].group_columns;
      plain.plane[c].rows = int64_t{8} * group_rows * scan.plane[c].group_rows;
    }
    return plain;
  }
  // A block has at least two bits, an interval ends with two bytes: a file that is too short gets no memory.
  constexpr size_t kMostBytes = size_t(1) << 26;
  const size_t least_bits = size_t{2} * plain.groups * scan.blocks + size_t{16} * plain.intervals();
  if (plain.data.size() > kMostBytes || plain.data.size() * 8 < least_bits) return {};
  return plain;
}

int PlainJpeg::chunks() const {
  return interval || progressive ? 1 : static_cast<int>((data.size() + kChunkBytes - 1) / kChunkBytes);
}

size_t PlainJpeg::room(int chunk) const {
  if (progressive) return static_cast<size_t>(samples()) * sizeof(int16_t);
  const size_t bytes = interval ? data.size() : std::min(kChunkBytes, data.size() - chunk * kChunkBytes);
  return kLeadBytes + bytes + 4 * static_cast<size_t>(intervals()) + JpegSegment::kAhead;
}

PlainJpeg::Chunk PlainJpeg::copy(int chunk, uint8_t* to) const {
  Chunk made;
  if (!interval) {
    const size_t begin = chunk * kChunkBytes, limit = std::min(begin + kChunkBytes, data.size());
    size_t from = begin - std::min(begin, kLeadBytes);
    if (from && data[from - 1] == 0xFF) from++;
    Copier copier(data, from, to);
    if (copier.copy(begin)) return {{}, kBroken};  // the scan has ended before
    const uint8_t* first = copier.end();
    made.marker = copier.copy(limit);
    cut(*this, to, first, copier.end(), {.end_block = blocks()}, made.segments);
    // Codes may reach into the next chunk.
    constexpr size_t kReach = 8;
    if (!made.marker) copier.copy(std::min(limit + kReach, data.size()));
    copier.pad(JpegSegment::kAhead - kReach);
    return made;
  }
  Copier copier(data, 0, to);
  for (int first = 0, i = 0; first < groups; first += interval, i++) {
    copier.pad((to - copier.end()) & 3);
    const uint8_t* begin = copier.end();
    const int next = std::min(groups, first + interval);
    if (copier.copy(data.size()) != (next == groups ? kEndOfImage : kRestart + i % 8)) return {{}, kBroken};
    cut(*this, begin, begin, copier.end(),
        {.interval = i, .first_block = first * scan.blocks, .end_block = next * scan.blocks}, made.segments);
    copier.skip_marker();
  }
  made.marker = kEndOfImage;
  copier.pad(JpegSegment::kAhead);
  return made;
}

}  // namespace avida::codecs
