#include "codecs/jpeg/progressive_scans.h"

#include <algorithm>
#include <bit>

#include "codecs/limits.h"

namespace avida::codecs {
namespace {

int divided_up(int a, int b) { return (a + b - 1) / b; }

// One entry gives run, size and value of an AC coefficient, or of a run of ended blocks.
class BandLookup {
 public:
  static constexpr int kBits = 10;
  static constexpr unsigned kEnds = 64;  // is added to the run where blocks end
  struct Entry {
    uint8_t bits;  // of code and value
    uint8_t run;   // zeros before the coefficient
    int16_t value;
  };

  void make(const HuffmanCode& code) {
    long_codes_ = LongCodes(code);
    for (unsigned i = 0; i < 1 << kBits; i++) {
      const LongCodes::Found found = long_codes_.find(static_cast<int>(i << (16 - kBits)));
      const int size = found.symbol & 15, length = found.length + size;
      entries_[i] = {};
      if (!found.length || length > kBits) continue;
      const int value = size ? static_cast<int>(i >> (kBits - length)) & ((1 << size) - 1) : 0;
      entries_[i] = entry(length, found.symbol, size && !(value >> (size - 1)) ? value - (1 << size) + 1 : value);
    }
  }

  // Reads a code and its value, after a refill. Returns false for a code that is not in the table.
  bool read(BitReader& reader, Entry& found) const {
    found = entries_[reader.bits >> (64 - kBits)];
    reader.skip(found.bits);
    return found.bits || read_slowly(reader, found);
  }

 private:
  static Entry entry(int bits, int symbol, int value) {
    const int run = symbol >> 4, ends = !(symbol & 15) && run != 15 ? static_cast<int>(kEnds) : 0;
    return {static_cast<uint8_t>(bits), static_cast<uint8_t>(run + ends), static_cast<int16_t>(value)};
  }
  bool read_slowly(BitReader& reader, Entry& found) const {
    const LongCodes::Found code = long_codes_.find(static_cast<int>(reader.bits >> 48));
    if (!code.length) return false;
    reader.skip(static_cast<unsigned>(code.length));
    const unsigned size = code.symbol & 15;
    found = entry(code.length, code.symbol, reader.value(size));
    reader.skip(size);
    return true;
  }

  Entry entries_[1 << kBits];
  LongCodes long_codes_;
};

// What a scan adds to the coefficients.
struct Band {
  int first, last;  // coefficients
  int high, low;    // bits: those that are known before start at `high`, or none (0), those afterwards at `low`
};

class ScanReader {
 public:
  // `memory` has room for the data, and ScanBytes::kMargin more.
  ScanReader(Bytes data, uint8_t* memory, const Band& band) : bytes_(data), band_(band) {
    const uint8_t* at = bytes_.begin();
    bytes_.use_buffer(memory, std::max<int64_t>(static_cast<int64_t>(data.size()), ScanBytes::kSize), at);
    reader_.at = bytes_.begin();
  }

  // Calls read(block), with the index of a block, for all blocks of a component.
  template <class Read>
  bool each_block(const CoefficientPlane& plane, int columns, int rows, Read&& read) {
    for (int y = 0; y < rows; y++)
      for (int x = 0; x < columns; x++)
        if (!within() || !read(int64_t{y} * plane.columns + x)) return false;
    return true;
  }
  // Whether the reader is not past the end of the data: only then a block may be read.
  bool within() const { return bytes_.buffered(reader_.at) >= -8; }
  // Whether the data ends here. The rest of the file begins with a marker.
  bool ends() {
    const int64_t left = 8 * bytes_.buffered(reader_.at) + reader_.count;
    return left >= 0 && left < 8 && !blocks_left_;
  }
  Bytes rest() const { return bytes_.rest(); }

  bool read_first_dc(const DcLookup& dc, int16_t& predicted, int16_t& coefficient) {
    if (!read_dc(reader_, dc, predicted)) return false;
    coefficient = static_cast<int16_t>(predicted * (1 << band_.low));
    return coefficient >> band_.low == predicted;
  }
  void read_next_dc(int16_t& coefficient) {
    reader_.refill();
    coefficient = static_cast<int16_t>(coefficient | static_cast<int>(reader_.bits >> 63) << band_.low);
    reader_.skip(1);
  }

  bool read_first_ac(const BandLookup& ac, int16_t* block, uint64_t& present) {
    if (blocks_left_) {
      blocks_left_--;
      return true;
    }
    for (unsigned k = static_cast<unsigned>(band_.first), last = static_cast<unsigned>(band_.last); k <= last; k++) {
      reader_.refill();
      BandLookup::Entry found;
      if (!ac.read(reader_, found)) return false;
      if (found.run >= BandLookup::kEnds) {
        read_ends(found.run - BandLookup::kEnds);
        blocks_left_--;
        return true;
      }
      k += found.run;
      if (k > last) return false;
      if (!found.value) continue;
      const auto value = static_cast<int16_t>(found.value * (1 << band_.low));
      if (value >> band_.low != found.value) return false;
      block[kStoreOrder.at[k + 1]] = value;
      present |= uint64_t{1} << k;
    }
    return true;
  }

  bool read_next_ac(const BandLookup& ac, int16_t* block, uint64_t& present) {
    unsigned k = static_cast<unsigned>(band_.first);
    const unsigned end = static_cast<unsigned>(band_.last) + 1;
    while (!blocks_left_ && k < end) {
      reader_.refill();
      BandLookup::Entry found;
      if (!ac.read(reader_, found)) return false;
      if (found.run >= BandLookup::kEnds) {
        read_ends(found.run - BandLookup::kEnds);
        break;
      }
      if (found.value < -1 || found.value > 1) return false;
      const unsigned zero = find_zero(~present, k, end, found.run);
      refine(block, present & from_to(k, zero));
      if (found.value) {
        if (zero == end) return false;
        block[kStoreOrder.at[zero + 1]] = static_cast<int16_t>(found.value * (1 << band_.low));
        present |= uint64_t{1} << zero;
      }
      k = zero + 1;
    }
    if (!blocks_left_) return true;
    blocks_left_--;
    if (k < end) refine(block, present & from_to(k, end));
    return true;
  }

 private:
  // The bits from `begin` to `end`, which is above it or equal.
  static uint64_t from_to(unsigned begin, unsigned end) {
    const uint64_t below = end < 64 ? (uint64_t{1} << end) - 1 : ~uint64_t{0};
    return below & ~uint64_t{0} << begin;
  }
  // The place of the zero after `run` others, from k on; `end` if there are not so many.
  static unsigned find_zero(uint64_t zeros, unsigned k, unsigned end, unsigned run) {
    zeros &= from_to(k, end);
    for (; run && zeros; run--) zeros &= zeros - 1;
    return zeros ? static_cast<unsigned>(std::countr_zero(zeros)) : end;
  }

  void read_ends(unsigned size) {
    reader_.refill();
    blocks_left_ = (1u << size) + (size ? static_cast<unsigned>(reader_.bits >> (64 - size)) : 0);
    reader_.skip(size);
  }

  // Reads a bit for each of these coefficients.
  void refine(int16_t* block, uint64_t which) {
    constexpr int kMost = 56;
    while (which) {
      reader_.refill();
      uint64_t bits = reader_.bits;
      int n = 0;
      for (; which && n < kMost; n++, bits <<= 1, which &= which - 1) {
        if (!(bits >> 63)) continue;
        int16_t& coefficient = block[kStoreOrder.at[std::countr_zero(which) + 1]];
        const int added = 1 << band_.low;
        if (!(coefficient & added))
          coefficient = static_cast<int16_t>(coefficient + (coefficient >= 0 ? added : -added));
      }
      reader_.skip(static_cast<unsigned>(n));
    }
  }

  ScanBytes bytes_;
  BitReader reader_{};
  const Band band_;
  unsigned blocks_left_ = 0;  // that have ended
};

class FileReader {
 public:
  explicit FileReader(ProgressiveScans& scans) : header_(scans.header), plane_(scans.plane), memory_(scans.memory) {}

  bool read(Bytes file, const ImageInfo& info) {
    JpegSegments segments;
    Bytes rest = file.subspan(std::min<size_t>(file.size(), 2)), scan;
    for (int64_t count = 1; segments.read_to_scan(rest, scan); count++) {
      if (count == 1 && !place(segments, info)) return false;
      if (count > decode_limits().scans || !read_scan(segments, scan, rest)) return false;
      if (rest.size() >= 2 && rest[1] == 0xD9) return finish();
    }
    return false;
  }

 private:
  // Memory for the coefficients, and for the data of a scan.
  bool place(const JpegSegments& segments, const ImageInfo& info) {
    header_ = segments;
    if (!header_.progressive || header_.interval || !header_.is_of(info)) return false;
    if (header_.components == 1) header_.component[0].columns = header_.component[0].rows = 1;
    for (int c = 0; c < header_.components; c++) {
      mcu_columns_ = std::max(mcu_columns_, header_.component[c].columns);
      mcu_rows_ = std::max(mcu_rows_, header_.component[c].rows);
    }
    mcus_across_ = divided_up(header_.width, 8 * mcu_columns_);
    mcus_down_ = divided_up(header_.height, 8 * mcu_rows_);
    int64_t blocks = 0;
    for (int c = 0; c < header_.components; c++) {
      plane_[c].columns = divided_up(mcus_across_ * header_.component[c].columns, kGroup) * kGroup;
      plane_[c].rows = mcus_down_ * header_.component[c].rows;
      blocks += plane_[c].blocks();
      std::fill_n(bits_[c], 64, kNone);
    }
    constexpr int64_t kBlockBytes = 64 * sizeof(int16_t) + sizeof(uint64_t) + sizeof(uint8_t);
    memory_ = allocate(blocks * kBlockBytes);
    std::memset(memory_.get(), 0, static_cast<size_t>(blocks * kBlockBytes));
    auto* coefficients = static_cast<int16_t*>(memory_.get());
    auto* present = reinterpret_cast<uint64_t*>(coefficients + 64 * blocks);
    auto* last = reinterpret_cast<uint8_t*>(present + blocks);
    for (int c = 0; c < header_.components; c++) {
      plane_[c].coefficients = coefficients;
      plane_[c].present = present;
      plane_[c].last = last;
      coefficients += 64 * plane_[c].blocks();
      present += plane_[c].blocks();
      last += plane_[c].blocks();
    }
    return true;
  }

  // Reads the header of a scan, and its data, which `rest` begins with.
  bool read_scan(const JpegSegments& segments, Bytes scan, Bytes& rest) {
    if (scan.empty() || scan[0] < 1 || scan[0] > header_.components || scan.size() != 4 + size_t{2} * scan[0])
      return false;
    const int n = scan[0];
    const uint8_t* tail = &scan[1 + size_t{2} * n];
    const Band band{tail[0], tail[1], tail[2] >> 4, tail[2] & 15};
    const bool is_dc = band.first == 0;
    if (is_dc ? band.last != 0 : band.last < band.first || band.last > 63 || n != 1) return false;
    if (band.low > 13 || (band.high && band.low != band.high - 1)) return false;
    int which[3], code[3];
    for (int i = 0, c = 0; i < n; i++, c++) {
      while (c < header_.components && header_.component[c].id != scan[1 + 2 * i]) c++;
      if (c == header_.components) return false;
      which[i] = c;
      const int table = is_dc ? scan[2 + 2 * i] >> 4 : scan[2 + 2 * i] & 15;
      code[i] = table;
      const bool needs_code = !is_dc || !band.high;
      if (needs_code && (table > 3 || !(is_dc ? segments.dc : segments.ac)[table].defined)) return false;
      if (!is_dc && bits_[c][0] == kNone) return false;
      for (int k = band.first; k <= band.last; k++) {
        if (bits_[c][k] != (band.high ? band.high : kNone)) return false;
        bits_[c][k] = band.low;
      }
    }
    if (!data_) data_ = allocate(std::max<int64_t>(std::ssize(rest), ScanBytes::kSize) + ScanBytes::kMargin);
    ScanReader reader(rest, static_cast<uint8_t*>(data_.get()), band);
    if (!(is_dc ? read_dcs(reader, segments, band, n, which, code)
                : read_acs(reader, segments.ac[code[0]], band, which[0])))
      return false;
    rest = reader.rest();
    return reader.ends();
  }

  bool read_dcs(ScanReader& reader, const JpegSegments& segments, const Band& band, int n, const int* which,
                const int* code) {
    DcLookup lookup[3];
    int16_t predicted[3] = {};
    if (!band.high)
      for (int i = 0; i < n; i++) lookup[i].make(segments.dc[code[i]]);
    const auto read = [&](int i, int64_t block) {
      int16_t& coefficient = coefficients_of(plane_[which[i]], block)[0];
      if (!band.high) return reader.read_first_dc(lookup[i], predicted[i], coefficient);
      reader.read_next_dc(coefficient);
      return true;
    };
    if (n == 1) return each_own_block(reader, which[0], [&](int64_t block) { return read(0, block); });
    for (int y = 0; y < mcus_down_; y++)
      for (int x = 0; x < mcus_across_; x++)
        for (int i = 0; i < n; i++) {
          const auto& component = header_.component[which[i]];
          for (int down = 0; down < component.rows; down++)
            for (int right = 0; right < component.columns; right++) {
              const int64_t row = int64_t{y} * component.rows + down;
              if (!reader.within() || !read(i, row * plane_[which[i]].columns + int64_t{x} * component.columns + right))
                return false;
            }
        }
    return true;
  }

  bool read_acs(ScanReader& reader, const HuffmanCode& code, const Band& band, int which) {
    BandLookup lookup;
    lookup.make(code);
    const CoefficientPlane& plane = plane_[which];
    if (band.high)
      return each_own_block(reader, which, [&](int64_t block) {
        return reader.read_next_ac(lookup, coefficients_of(plane, block), plane.present[block]);
      });
    return each_own_block(reader, which, [&](int64_t block) {
      return reader.read_first_ac(lookup, coefficients_of(plane, block), plane.present[block]);
    });
  }

  // The blocks of a component that is alone in a scan: those within the image.
  template <class Read>
  bool each_own_block(ScanReader& reader, int which, Read&& read) {
    const auto& component = header_.component[which];
    return reader.each_block(plane_[which], divided_up(header_.width * component.columns, 8 * mcu_columns_),
                             divided_up(header_.height * component.rows, 8 * mcu_rows_), read);
  }

  static int16_t* coefficients_of(const CoefficientPlane& plane, int64_t block) {
    return plane.coefficients + block / kGroup * kGroupSize + block % kGroup * 8;
  }

  bool finish() {
    for (int c = 0; c < header_.components; c++) {
      if (std::any_of(bits_[c], bits_[c] + 64, [](int bits) { return bits != 0; })) return false;
      const CoefficientPlane& plane = plane_[c];
      for (int64_t i = 0; i < plane.blocks(); i++)
        plane.last[i] = static_cast<uint8_t>(plane.present[i] ? 63 - std::countl_zero(plane.present[i]) : 0);
    }
    return true;
  }

  static constexpr int kNone = -1;
  SequentialHeader& header_;
  CoefficientPlane* const plane_;
  Block& memory_;
  Block data_;
  int mcu_columns_ = 1, mcu_rows_ = 1;  // of blocks
  int mcus_across_ = 0, mcus_down_ = 0;
  int bits_[3][64];  // of each coefficient: the lowest bit that is known
};

}  // namespace

bool ProgressiveScans::read(Bytes file, const ImageInfo& info) { return FileReader(*this).read(file, info); }

}  // namespace avida::codecs
