#include "codecs/jpeg/scan/plain_jpeg.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "codecs/jpeg/scan/huffman_lookup.h"

namespace avida::codecs {
namespace {

constexpr size_t kSegmentBytes = JpegSegment::kMostBits / 8, kChunkBytes = 4 * kSegmentBytes;
constexpr size_t kPartBytes = JpegSegment::kPartBits / 8, kLeadBytes = JpegSegment::kMostLead * kPartBytes;
constexpr int kRestart = 0xD0;

// The codes in the form that kernels read.
JpegCode device_code(const HuffmanCode& from) {
  JpegCode code{};
  if (!from.defined) return code;
  const LongCodes found(from);
  std::copy_n(found.last, 17, code.last);
  std::copy_n(found.offset, 17, code.offset);
  std::copy_n(found.symbols, 256, code.symbols);
  return code;
}

// Whether the file is baseline, with two tables of each kind, or progressive, with factors of 8 bits.
bool is_usual(const JpegHeader& header) {
  if (!header.ordinary || header.frame == kExtendedFrame) return false;
  if (header.is_progressive() ? header.interval || !header.is_complete() : !header.one_scan) return false;
  return std::all_of(header.component, header.component + header.components, [&](const auto& one) {
    const uint16_t* factors = header.quantization[one.quantization];
    return one.dc < 2 && one.ac < 2 && std::all_of(factors, factors + 64, [](uint16_t factor) { return factor < 256; });
  });
}

// Appends the code of symbol 0, which is no difference of DC coefficients, or the end of a block. Returns false if
// there is none.
bool append_zero(const HuffmanCode& code, EmptyMcu& mcu) {
  for (int length = 1, next = 0, at = 0; length <= 16; length++, next <<= 1)
    for (int i = 0; i < code.counts[length - 1]; i++, next++)
      if (code.symbols[at++] == 0) {
        for (int bit = length - 1; bit >= 0; bit--) mcu.bits[mcu.count++] = next >> bit & 1;
        return true;
      }
  return false;
}

int divided_up(int a, int b) { return (a + b - 1) / b; }

bool is_set(const uint8_t* bytes, size_t bit) { return bytes[bit / 8] >> (7 - bit % 8) & 1; }

// Consecutive empty MCUs: the bytes from `begin` to `end` repeat those before.
struct EmptyMcus {
  const uint8_t *begin, *end;
  unsigned over;  // the bits from `end` to the next MCU
};

// Finds empty MCUs in the data of a scan. Decoders that begin among them may never synchronise.
class EmptySearch {
 public:
  EmptySearch(const EmptyMcu& mcu) : mcu_(mcu), bytes_(mcu.count / std::gcd(std::max(mcu.count, 1), 8)) {}

  // The bytes after which they repeat, and the MCUs in them.
  size_t period() const { return bytes_; }
  unsigned mcus() const { return static_cast<unsigned>(8 * bytes_) / static_cast<unsigned>(mcu_.count); }

  // The next ones from `at` on; `begin` is `end` of the data if there are none.
  EmptyMcus find(const uint8_t* at, const uint8_t* end) const {
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
  // Some bytes are kept on both sides: the codes before the first MCU may reach into them.
  std::optional<EmptyMcus> within(const uint8_t* first, const uint8_t* end) const {
    constexpr size_t kWorth = 256, kMargin = 48;
    const auto size = static_cast<size_t>(end - first), kept = 2 * (bytes_ + kMargin);
    if (size < kept + kWorth) return {};
    EmptyMcus found{first + kept / 2, first + kept / 2 + (size - kept) / bytes_ * bytes_, 0};
    const auto n = static_cast<size_t>(mcu_.count);
    for (size_t shift = 0; shift < n; shift++) {
      size_t bit = 0;
      while (bit < 8 * bytes_ && is_set(found.end, shift + bit) == mcu_.bits[bit % n]) bit++;
      if (bit < 8 * bytes_) continue;
      if (shift <= JpegState::kMostOver) found.over = static_cast<unsigned>(shift);
      return found;
    }
    return {};
  }

  const EmptyMcu& mcu_;
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
    const EmptyMcus next = search.find(at, end);
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
    like.period_blocks = search.mcus() * static_cast<unsigned>(plain.scan.blocks);
    like.skipped = static_cast<unsigned>((next.end - next.begin) / search.period()) * like.period_blocks;
    like.guess = JpegState::of(next.over, 0, 0).packed;
    at = next.end;
  }
}

}  // namespace

int64_t PlainJpeg::samples() const {
  return std::accumulate(plane, plane + planes, int64_t{0}, [](int64_t sum, auto& one) { return sum + one.samples(); });
}

namespace {

// Makes what kernels need of a header. The functions return false for files that they do not decode.
class Planner {
 public:
  explicit Planner(const JpegHeader& header) : header_(header) {
    std::copy_n(header.component, 3, component_);
    if (header.components == 1)
      component_[0].columns = component_[0].rows = 1;  // the MCUs of a single component are blocks
    plain_.planes = header.components;
    plain_.columns = plain_.rows = 1;
    plain_.progressive = header.is_progressive();
    plain_.interval = header.interval;
    plain_.data = header.data;
  }

  std::optional<PlainJpeg> plan() {
    if (!is_usual(header_) || !find_sampling()) return {};
    place_planes();
    if (!place_blocks() || !count_mcus()) return {};
    if (plain_.progressive)
      enlarge_planes();
    else if (!is_long_enough())
      return {};
    return plain_;
  }

 private:
  bool find_sampling() {
    if (plain_.planes == 1) return true;
    for (const auto& one : component_)
      if (one.columns > 2 || one.rows > 2) return false;
    const auto& [luma, chroma, other] = component_;
    if (!header_.is_ycbcr() || chroma.columns != other.columns || chroma.rows != other.rows ||
        luma.columns % chroma.columns || luma.rows % chroma.rows)
      return false;
    plain_.columns = luma.columns / chroma.columns;
    plain_.rows = luma.rows / chroma.rows;
    return plain_.rows <= plain_.columns;
  }

  void place_planes() {
    for (int i = 0; i < 2; i++) {
      scan_.codes[i] = device_code(header_.dc[i]);
      scan_.codes[2 + i] = device_code(header_.ac[i]);
    }
    for (int c = 0, before = 0; c < plain_.planes; c++) {
      const JpegHeader::Component& component = component_[c];
      const int width = divided_up(header_.width, c ? plain_.columns : 1);
      const int height = divided_up(header_.height, c ? plain_.rows : 1);
      JpegScan::Plane& plane = scan_.plane[c];
      plane = {before, divided_up(width, 8), divided_up(height, 8), component.columns, component.rows, {}};
      std::copy_n(header_.quantization[component.quantization], 64, plane.factors);
      plain_.plane[c] = {width, height, int64_t{8} * plane.columns, int64_t{8} * plane.rows};
      before += plane.columns * plane.rows;
    }
  }

  // The blocks of an MCU.
  bool place_blocks() {
    bool has_empty = true;
    for (int c = 0; c < plain_.planes; c++) {
      const JpegHeader::Component& component = component_[c];
      for (int i = 0; i < component.rows * component.columns; i++) {
        if (scan_.blocks == JpegScan::kMostBlocks) return false;
        scan_.second_dc |= static_cast<uint32_t>(component.dc) << scan_.blocks;
        scan_.second_ac |= static_cast<uint32_t>(component.ac) << scan_.blocks;
        has_empty = has_empty && append_zero(header_.dc[component.dc], plain_.empty) &&
                    append_zero(header_.ac[component.ac], plain_.empty);
        scan_.place[scan_.blocks++] = {static_cast<uint8_t>(c), static_cast<uint8_t>(i / component.columns),
                                       static_cast<uint8_t>(i % component.columns), 0};
      }
    }
    if (!has_empty) plain_.empty.count = 0;
    const uint32_t all = (1u << scan_.blocks) - 1;
    scan_.period = scan_.second_dc % all || scan_.second_ac % all ? scan_.blocks : 1;
    return true;
  }

  // All blocks have to be written.
  bool count_mcus() {
    const int columns = std::max(component_[0].columns, component_[1].columns);
    const int rows = std::max(component_[0].rows, component_[1].rows);
    scan_.mcus_across = divided_up(header_.width, 8 * columns);
    mcus_down_ = divided_up(header_.height, 8 * rows);
    plain_.mcus = scan_.mcus_across * mcus_down_;
    return std::all_of(scan_.plane, scan_.plane + plain_.planes, [this](const JpegScan::Plane& plane) {
      return scan_.mcus_across * plane.mcu_columns >= plane.columns && mcus_down_ * plane.mcu_rows >= plane.rows;
    });
  }

  // The planes of progressive files are whole MCUs.
  void enlarge_planes() {
    for (int c = 0; c < plain_.planes; c++) {
      plain_.plane[c].stride = int64_t{8} * scan_.mcus_across * scan_.plane[c].mcu_columns;
      plain_.plane[c].rows = int64_t{8} * mcus_down_ * scan_.plane[c].mcu_rows;
    }
  }

  // A block has at least two bits, an interval ends with two bytes: a file that is too short gets no memory.
  bool is_long_enough() const {
    constexpr size_t kMostBytes = size_t(1) << 26;
    const size_t least_bits = size_t{2} * plain_.mcus * scan_.blocks + size_t{16} * plain_.intervals();
    return plain_.data.size() <= kMostBytes && plain_.data.size() * 8 >= least_bits;
  }

  const JpegHeader& header_;
  JpegHeader::Component component_[3];
  PlainJpeg plain_{};
  JpegScan& scan_ = plain_.scan;
  int mcus_down_ = 0;
};

}  // namespace

std::optional<PlainJpeg> plain_jpeg(const JpegHeader& header) { return Planner(header).plan(); }

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
  for (int first = 0, i = 0; first < mcus; first += interval, i++) {
    copier.pad((to - copier.end()) & 3);
    const uint8_t* begin = copier.end();
    const int next = std::min(mcus, first + interval);
    if (copier.copy(data.size()) != (next == mcus ? kEndOfImage : kRestart + i % 8)) return {{}, kBroken};
    cut(*this, begin, begin, copier.end(),
        {.interval = i, .first_block = first * scan.blocks, .end_block = next * scan.blocks}, made.segments);
    copier.skip_marker();
  }
  made.marker = kEndOfImage;
  copier.pad(JpegSegment::kAhead);
  return made;
}

}  // namespace avida::codecs
