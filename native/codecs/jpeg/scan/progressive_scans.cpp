#include "codecs/jpeg/scan/progressive_scans.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "codecs/limits.h"

namespace avida::codecs {
namespace {

int divided_up(int a, int b) { return (a + b - 1) / b; }

class FileReader {
 public:
  FileReader(const JpegHeader& header, ProgressiveScans& scans, std::span<int16_t> zigzag)
      : header_(header),
        plane_(scans.plane),
        memory_(scans.memory),
        zigzag_(zigzag.data()),
        expected_(std::ssize(zigzag) / 64) {}

  bool read() {
    if (!place()) return false;
    for (int64_t count = 1; count <= decode_limits().scans; count++) {
      Bytes rest = header_.data;
      if (!read_scan(rest)) return false;
      if (rest.size() >= 2 && rest[1] == 0xD9) return finish();
      if (!read_next_scan(header_, rest)) return false;
    }
    return false;
  }

 private:
  // Memory for the coefficients, and for the data of a scan.
  bool place() {
    if (header_.interval || !header_.is_complete()) return false;
    if (header_.components == 1) header_.component[0].columns = header_.component[0].rows = 1;
    for (int c = 0; c < header_.components; c++) {
      mcu_columns_ = std::max(mcu_columns_, header_.component[c].columns);
      mcu_rows_ = std::max(mcu_rows_, header_.component[c].rows);
    }
    mcus_across_ = divided_up(header_.width, 8 * mcu_columns_);
    mcus_down_ = divided_up(header_.height, 8 * mcu_rows_);
    int64_t blocks = 0;
    for (int c = 0; c < header_.components; c++) {
      plane_[c].layout = zigzag_ ? &kZigzagLayout : &kGroupedLayout;
      const int group = 1 << plane_[c].layout->group_bits;
      plane_[c].columns = divided_up(mcus_across_ * header_.component[c].columns, group) * group;
      plane_[c].rows = mcus_down_ * header_.component[c].rows;
      blocks += plane_[c].blocks();
      std::fill_n(bits_[c], 64, kNone);
    }
    if (zigzag_ && blocks != expected_) return false;  // the file has changed
    const int64_t own = zigzag_ ? 0 : blocks, bytes = 128 * own + blocks * int64_t{sizeof(uint64_t) + sizeof(uint8_t)};
    memory_ = allocate(bytes);
    std::memset(memory_.get(), 0, static_cast<size_t>(bytes));
    if (zigzag_) std::memset(zigzag_, 0, static_cast<size_t>(128 * blocks));
    auto* coefficients = zigzag_ ? zigzag_ : static_cast<int16_t*>(memory_.get());
    auto* present = reinterpret_cast<uint64_t*>(static_cast<int16_t*>(memory_.get()) + 64 * own);
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
  bool read_scan(Bytes& rest) {
    const Bytes scan = header_.scan;
    const int n = scan.empty() ? 0 : scan[0];  // read once: it may change
    if (n < 1 || n > header_.components || scan.size() != 4 + size_t{2} * n) return false;
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
      if (needs_code && (table > 3 || !(is_dc ? header_.dc : header_.ac)[table].defined)) return false;
      if (!is_dc && bits_[c][0] == kNone) return false;
      for (int k = band.first; k <= band.last; k++) {
        if (bits_[c][k] != (band.high ? band.high : kNone)) return false;
        bits_[c][k] = band.low;
      }
    }
    if (!data_) data_ = allocate(std::max<int64_t>(std::ssize(rest), ScanBytes::kSize) + ScanBytes::kMargin);
    ScanBytes bytes(rest);
    const uint8_t* at = bytes.begin();
    bytes.use_buffer(static_cast<uint8_t*>(data_.get()), std::max<int64_t>(std::ssize(rest), ScanBytes::kSize), at);
    BandState state{{bytes.begin()}};
    if (is_dc ? !read_dcs(bytes, state.reader, band, n, which, code)
              : !read_acs(bytes, state, header_.ac[code[0]], band, which[0]))
      return false;
    rest = bytes.rest();
    const int64_t left = 8 * bytes.buffered(state.reader.at) + state.reader.count;
    return left >= 0 && left < 8 && !state.ended;
  }

  // The blocks of an MCU: their component, and their place.
  struct Slot {
    const CoefficientPlane* plane;
    int component;  // of the scan
    int columns, rows, column, row;
  };

  bool read_dcs(const ScanBytes& bytes, BitReader& reader, const Band& band, int n, const int* which, const int* code) {
    CodeLookup lookup[3];
    if (!band.high)
      for (int i = 0; i < n; i++) lookup[i].make(header_.dc[code[i]], CodeLookup::dc);
    std::vector<Slot> slots;
    for (int i = 0; i < n; i++) {
      const int columns = n == 1 ? 1 : header_.component[which[i]].columns;
      const int rows = n == 1 ? 1 : header_.component[which[i]].rows;
      for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++)
          slots.push_back({&plane_[which[i]], i, columns, rows, column, row});
    }
    const int across = n == 1 ? own_columns(which[0]) : mcus_across_, down = n == 1 ? own_rows(which[0]) : mcus_down_;
    int16_t predicted[3] = {};
    const uint8_t* const safe = bytes.safe_end();
    BitReader local = reader;
    for (int y = 0; y < down; y++)
      for (int x = 0; x < across; x++) {
        if (local.at > safe) return false;
        for (const Slot& slot : slots) {
          const int64_t row = int64_t{y} * slot.rows + slot.row;
          int16_t& first = *slot.plane->block(row * slot.plane->columns + x * slot.columns + slot.column);
          if (band.high) {
            local.refill();
            first = static_cast<int16_t>(first | static_cast<int>(local.bits >> 63) << band.low);
            local.skip(1);
            continue;
          }
          int16_t& value = predicted[slot.component];
          if (!read_dc(local, lookup[slot.component], value)) return false;
          first = static_cast<int16_t>(value * (1 << band.low));
          if (first >> band.low != value) return false;
        }
      }
    reader = local;
    return true;
  }

  bool read_acs(const ScanBytes& bytes, BandState& state, const HuffmanCode& code, const Band& band, int which) {
    BandLookup lookup;
    lookup.make(code);
    return read_band(bytes, state, band, lookup, plane_[which], own_columns(which), own_rows(which));
  }

  // The blocks of a component that is alone in a scan: those within the image.
  int own_columns(int which) const {
    return divided_up(header_.width * header_.component[which].columns, 8 * mcu_columns_);
  }
  int own_rows(int which) const { return divided_up(header_.height * header_.component[which].rows, 8 * mcu_rows_); }

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
  JpegHeader header_;  // with the codes of the scan that is read
  CoefficientPlane* const plane_;
  Block& memory_;
  int16_t* const zigzag_;
  const int64_t expected_;  // blocks, where `zigzag_` is given
  Block data_;
  int mcu_columns_ = 1, mcu_rows_ = 1;  // of blocks
  int mcus_across_ = 0, mcus_down_ = 0;
  int bits_[3][64];  // of each coefficient: the lowest bit that is known
};

}  // namespace

bool ProgressiveScans::read(const JpegHeader& header, std::span<int16_t> zigzag) {
  return FileReader(header, *this, zigzag).read();
}

}  // namespace avida::codecs
