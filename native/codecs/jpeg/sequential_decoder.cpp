#include "codecs/jpeg/sequential_decoder.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <numeric>
#include <optional>

#include "codecs/jpeg/pixels/pixel_vectors.h"
#include "codecs/jpeg/scan/progressive_scans.h"
#include "codecs/jpeg/scan/scan_vectors.h"
#include "codecs/jpeg/scan/shared_scan.h"
#include "core/vectors.h"
#include "runtime/memory.h"
#include "runtime/thread_pool.h"

namespace avida::codecs {
namespace {

constexpr std::string_view kLibrary = "libjpeg-turbo";
std::atomic<int64_t> decodes{0}, shared_decodes{0};
std::atomic<bool> enabled{true};
std::atomic<int> split_bytes{0};

constexpr int kSegmentBytes = 32 << 10;   // of the data that a thread reads at once
constexpr int kWorthSharing = 256 << 10;  // bytes of data: below, waking threads costs more than it gains
constexpr int kMostThreads = 16;          // more would wait for the one that joins their segments

int divided_up(int a, int b) { return (a + b - 1) / b; }
int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// The threads that can decode data of this size together; 1: it is not worth it.
int threads_for(ThreadPool* pool, int64_t bytes) {
  if (!pool) return 1;
  if (const int split = split_bytes) return bytes >= 2 * split ? std::max(2, pool->threads()) : 1;
  return bytes < kWorthSharing ? 1 : std::min(pool->idle() + 1, kMostThreads);
}

// Hands out parts of one block of memory, whose size is known when all have been requested.
class Arena {
 public:
  template <class T>
  void request(T*& pointer, int64_t count) {
    requests_[count_++] = {reinterpret_cast<void**>(&pointer), size_};
    size_ += aligned(count * static_cast<int64_t>(sizeof(T)));
  }
  void allocate() {
    block_ = avida::allocate(size_);
    for (int i = 0; i < count_; i++) *requests_[i].pointer = static_cast<uint8_t*>(block_.get()) + requests_[i].at;
  }

 private:
  struct Request {
    void** pointer;
    int64_t at;
  };
  Request requests_[12];  // the samples of three planes, and three tables for each
  int count_ = 0;
  int64_t size_ = 0;
  Block block_;
};

// The part of a component that is needed.
struct Plane {
  int columns, rows;  // of blocks in an MCU
  int width, height;  // in samples
  int first, groups;  // of blocks in a row: the first, and how many groups of them
  int16_t factors[64];
  uint8_t* memory;
  int64_t stride;
  int ring;  // rows of samples; older ones are overwritten

  static constexpr int kMargin = 64;

  int blocks() const { return rows * groups * kGroup; }
  uint8_t* memory_of(int y) const { return memory + y % ring * stride; }
  // Of column 0, which may lie outside of the memory.
  uint8_t* row(int y) const { return memory_of(y) + kMargin - 8 * first; }
  // Chooses the blocks with samples from `begin` to `end`.
  void need(int begin, int end) {
    begin = std::max(begin, 0);
    end = std::min(end, width);
    first = begin / 8 / kGroup * kGroup;
    groups = divided_up(divided_up(end, 8) - first, kGroup);
    stride = int64_t{8} * kGroup * groups + 2 * kMargin + kPixelMargin;
  }
  // Samples beside the left and the right edge of the image repeat those at the edge.
  void extend(int y) const {
    uint8_t* at = row(y);
    if (first == 0) at[-1] = at[0];
    if (width <= 8 * (first + groups * kGroup)) at[width] = at[width - 1];
  }
};

// The blocks of a row of MCUs, for the IDCT. Every thread has its own.
struct RowBlocks {
  int16_t* coefficients[3];  // of each plane
  uint8_t* last[3];
  int64_t columns[3];  // blocks from one row to the next
  BlockSlot slots[10];
  Arena arena;
};

enum class Output { gray, rgb, bgr };

// Where reading may begin: at the first row of MCUs, or at one that follows a restart marker.
struct Entry {
  int row;
  Bytes data;
  int restarts;  // the markers before
};

class SequentialDecoder {
 public:
  // `ends`: the rest of the file is checked as libjpeg does, else that the file goes on.
  SequentialDecoder(const JpegHeader& header, Output output, const Roi& roi, const PixelRows& out, ThreadPool* pool,
                    const Entry& entry, bool ends)
      : header_(header),
        output_(output),
        roi_(roi),
        out_(out),
        pool_(pool),
        ends_(ends),
        bytes_(entry.data),
        state_{{bytes_.begin()}},
        restarts_(entry.restarts),
        row_(entry.row) {
    if (header.components == 3) return;
    auto& only = header_.component[0];  // the MCUs of a single component are blocks
    rows_read_at_once_ = only.rows;
    only.columns = only.rows = 1;
  }

  // Returns false for a file that cannot be decoded here.
  bool plan() {
    const auto* component = header_.component;
    const bool colors = header_.components == 3;
    planes_ = colors && output_ != Output::gray ? 3 : 1;
    mcu_columns_ = component[0].columns;
    mcu_rows_ = component[0].rows;
    if (colors &&
        (!header_.is_ycbcr() || component[1].columns != component[2].columns ||
         component[1].rows != component[2].rows || mcu_columns_ % component[1].columns ||
         mcu_rows_ % component[1].rows || mcu_columns_ > 2 * component[1].columns || mcu_rows_ > 2 * component[1].rows))
      return false;
    columns_ = colors ? mcu_columns_ / component[1].columns : 1;
    rows_ = colors ? mcu_rows_ / component[1].rows : 1;
    if (columns_ == 2 && divided_up(header_.width, 2) <= 2) return false;  // these are not interpolated
    mcus_across_ = divided_up(header_.width, 8 * mcu_columns_);
    mcus_down_ = divided_up(header_.height, 8 * mcu_rows_);
    interpolates_rows_ = planes_ == 3 && rows_ == 2;
    first_row_ = std::max(0, roi_.y - (interpolates_rows_ ? 1 : 0)) / (8 * mcu_rows_);
    // As far as libjpeg reads: the rows of an MCU's last row of chroma wait for the next MCU.
    const int last = (roi_.y + roi_.height - 1) / mcu_rows_;
    last_row_ = last / 8 / rows_read_at_once_ * rows_read_at_once_ + rows_read_at_once_ - 1;
    if (interpolates_rows_ && last % 8 == 7) last_row_++;
    last_row_ = std::min(last_row_, mcus_down_ - 1);
    return true;
  }

  // Makes the pixels from coefficients that have been read already.
  bool run(const ProgressiveScans& scans) {
    place_planes(false);
    for (row_ = first_row_; row_ <= last_row_; row_++) {
      RowBlocks blocks;
      for (int c = 0; c < planes_; c++) {
        const CoefficientPlane& plane = scans.plane[c];
        const int64_t first = int64_t{row_} * plane_[c].rows * plane.columns + plane_[c].first;
        blocks.coefficients[c] = plane.coefficients + 64 * first;
        blocks.last[c] = plane.last + first;
        blocks.columns[c] = plane.columns;
      }
      if (!make_samples_of(row_, blocks)) return false;
      write_rows(written_, end_of_pixels(row_));
      written_ = end_of_pixels(row_);
    }
    return true;
  }

  bool run() {
    place_planes(true);
    make_slots();
    while (row_ <= last_row_) {
      const int threads = header_.interval || row_ < alone_until_ ? 1 : threads_for(pool_, bytes_needed());
      if (threads > 1 ? !make_rows_together(threads) : !make_row_alone()) return false;
    }
    const int64_t left = bits_left();
    if (!ends_ && row_ < mcus_down_) return left >= 0 && (int64_t{row_} * mcus_across_ % header_.interval || restart());
    // The rest of the file is not looked at, but libjpeg reads ahead and refuses a file that ends there.
    if (roi_.y + roi_.height < header_.height) return left >= 0 && !bytes_.ends_without_marker(state_.reader.at);
    return ends_interval(left, 0xD9);
  }

  // The parts of the work for threads of their own, by restart markers: where to read, and the rows of pixels.
  struct Part {
    Entry entry;
    Roi roi;
  };
  std::vector<Part> parts(int threads) const {
    std::vector<Part> found{{{row_, header_.data, 0}, roi_}};
    // Every so many rows of MCUs, a restart marker precedes a row.
    const int step = header_.interval / std::gcd(header_.interval, mcus_across_);
    const int wanted = std::max(kLeastRows, divided_up(last_row_ + 1 - first_row_, 2 * threads));
    int row = first_row_ + wanted;
    MarkerSearch search(header_.data);
    for (row = divided_up(row, step) * step; row <= last_row_; row = divided_up(row + wanted, step) * step) {
      const auto restarts = static_cast<int>(int64_t{row} * mcus_across_ / header_.interval);
      const std::optional<Bytes> data = search.after(restarts);
      if (!data) break;
      // The first row of pixels is interpolated from the row of MCUs before.
      const int y = 8 * mcu_rows_ * row + (interpolates_rows_ ? 1 : 0), end = roi_.y + roi_.height;
      if (y >= end) break;
      Roi& before = found.back().roi;
      before.height = y - before.y;
      found.push_back({{row, *data, restarts}, {y, roi_.x, end - y, roi_.width}});
    }
    return found;
  }

 private:
  static constexpr int kLeastRows = 4;  // of MCUs that a thread makes at once

  // Finds restart markers by their number.
  class MarkerSearch {
   public:
    explicit MarkerSearch(Bytes data) : rest_(data) {}
    // What follows so many markers, not less than in the call before.
    std::optional<Bytes> after(int markers) {
      while (found_ < markers) {
        const void* at = rest_.size() < 2 ? nullptr : std::memchr(rest_.data(), 0xFF, rest_.size() - 1);
        if (!at) return {};
        rest_ = rest_.subspan(static_cast<size_t>(static_cast<const uint8_t*>(at) - rest_.data()));
        if (rest_[1] >= 0xD0 && rest_[1] <= 0xD7)
          found_++;
        else if (rest_[1])
          return {};
        rest_ = rest_.subspan(2);
      }
      return rest_;
    }

   private:
    Bytes rest_;
    int found_ = 0;
  };

  void place_planes(bool reads_codes) {
    for (int c = 0; c < planes_; c++) place_plane(c);
    place_samples(arena_, 2);
    if (!reads_codes) return arena_.allocate();
    const bool skips = planes_ < header_.components || roi_.y || roi_.x || roi_.width < header_.width;
    const auto uses = [this](auto table, int i) {  // components may share tables
      const auto* first = header_.component;
      return std::any_of(first, first + header_.components, [&](auto& component) { return component.*table == i; });
    };
    for (int i = 0; i < 4; i++) {
      if (uses(&JpegHeader::Component::dc, i)) arena_.request(dc_[i], 1);
      if (!uses(&JpegHeader::Component::ac, i)) continue;
      arena_.request(ac_[i], 1);
      if (skips) arena_.request(skip_[i], 1);
    }
    arena_.allocate();
    for (int i = 0; i < 4; i++) {
      if (dc_[i]) dc_[i]->make(header_.dc[i], CodeLookup::dc);
      if (ac_[i]) ac_[i]->make(header_.ac[i], CodeLookup::ac);
      if (skip_[i]) skip_[i]->make(*ac_[i]);
    }
  }

  void place_plane(int c) {
    Plane& plane = plane_[c];
    const auto& component = header_.component[c];
    const int columns = c ? columns_ : 1, rows = c ? rows_ : 1;
    plane.columns = component.columns;
    plane.rows = component.rows;
    plane.width = divided_up(header_.width, columns);
    plane.height = divided_up(header_.height, rows);
    plane.need(roi_.x / columns - 1, (roi_.x + roi_.width - 1) / columns + 2);
    for (int k = 0; k < 64; k++) {
      const int at = kStoreOrder.at[k + 1];
      plane.factors[at / (8 * kGroup) * 8 + at % 8] =
          static_cast<int16_t>(header_.quantization[component.quantization][k]);
    }
  }

  // Memory for the samples of so many rows of MCUs.
  void place_samples(Arena& arena, int rows) {
    for (int c = 0; c < planes_; c++) {
      plane_[c].ring = rows * 8 * plane_[c].rows;
      arena.request(plane_[c].memory, plane_[c].stride * plane_[c].ring);
    }
  }

  // The blocks of an MCU in the order of the file. None is needed.
  void make_slots() {
    for (int c = 0; c < header_.components; c++) {
      const auto& component = header_.component[c];
      for (int y = 0; y < component.rows; y++)
        for (int x = 0; x < component.columns; x++)
          slots_[slot_count_++] = {
              dc_[component.dc], ac_[component.ac], skip_[component.ac], c, nullptr, nullptr, component.columns, x, 0};
    }
  }

  // Memory for the blocks that are needed.
  void place_blocks(RowBlocks& row) const {
    for (int c = 0; c < planes_; c++) {
      row.arena.request(row.coefficients[c], int64_t{64} * plane_[c].blocks());
      row.arena.request(row.last[c], plane_[c].blocks());
      row.columns[c] = plane_[c].groups * kGroup;
    }
    row.arena.allocate();
    std::copy_n(slots_, slot_count_, row.slots);
    BlockSlot* slot = row.slots;
    for (int c = 0; c < planes_; c++) {
      const Plane& plane = plane_[c];
      std::memset(row.coefficients[c], 0, sizeof(int16_t) * 64 * static_cast<size_t>(plane.blocks()));
      std::memset(row.last[c], 0, static_cast<size_t>(plane.blocks()));
      for (int y = 0; y < plane.rows; y++)
        for (int x = 0; x < plane.columns; x++, slot++) {
          slot->coefficients = row.coefficients[c] + int64_t{y} * plane.groups * kGroupSize;
          slot->last = row.last[c] + y * plane.groups * kGroup;
          slot->offset = x - plane.first;
          slot->columns = plane.groups * kGroup;
        }
    }
  }
  // The blocks of one of the threads.
  RowBlocks& blocks_of(size_t thread) {
    while (blocks_.size() <= thread) place_blocks(blocks_.emplace_back());
    return blocks_[thread];
  }

  // An estimate of the data of the rows that are needed.
  int64_t bytes_needed() const {
    return bytes_.unread(state_.reader.at) * (last_row_ + 1 - row_) / (mcus_down_ - row_);
  }
  int64_t bits_left() { return 8 * bytes_.left(state_.reader.at) + state_.reader.count; }
  bool ends_interval(int64_t left, int marker) const { return left >= 0 && left < 8 && bytes_.marker() == marker; }

  bool restart() {
    if (!ends_interval(bits_left(), 0xD0 + restarts_++ % 8)) return false;
    bytes_.next_interval();
    state_ = {{bytes_.begin()}};
    return true;
  }

  bool make_row_alone() {
    const bool needed = row_ >= first_row_;
    if (!read_row(needed ? blocks_of(0).slots : slots_)) return false;
    if (needed) {
      if (!make_samples_of(row_, blocks_[0])) return false;
      write_rows(written_, end_of_pixels(row_));
      written_ = end_of_pixels(row_);
    }
    row_++;
    return true;
  }

  bool read_row(const BlockSlot* slots) {
    for (int mcu = 0; mcu < mcus_across_;) {
      const int64_t done = int64_t{row_} * mcus_across_ + mcu;
      int count = mcus_across_ - mcu;
      if (header_.interval) {
        if (done && done % header_.interval == 0 && !at_entry_ && !restart()) return false;
        at_entry_ = false;
        count = static_cast<int>(std::min<int64_t>(count, header_.interval - done % header_.interval));
      }
      if (!read_mcus(bytes_, state_, slots, slot_count_, mcu, count)) return false;
      mcu += count;
    }
    return true;
  }

  // Threads read the codes of several rows, then make the rows. The results are those of make_row_alone().
  bool make_rows_together(int threads) {
    if (!shared_) {
      shared_decodes.fetch_add(1, std::memory_order_relaxed);
      const int split = split_bytes;
      shared_.emplace(*pool_, slots_, slot_count_, split ? split : kSegmentBytes);
      enlarge_rings();
    }
    const int64_t most = int64_t{last_row_ + 1 - row_} * mcus_across_;
    if (!shared_->read(bytes_, state_, most, mcus_across_, threads)) return false;
    const int begin = row_, end = row_ + static_cast<int>(shared_->count() / mcus_across_);
    for (row_ = std::max(row_, first_row_); row_ < end; row_ = std::min(end, row_ + rows_together_))
      if (!make_recorded_rows(begin, std::min(end, row_ + rows_together_), threads)) return false;
    row_ = end;
    if (!shared_->was_shared() && !split_bytes) alone_until_ = end + kRowsAlone;
    return true;
  }

  // The rows from row_ on. `recorded`: the first row that is recorded.
  bool make_recorded_rows(int recorded, int end, int threads) {
    const int rows = std::max(1, std::min(kLeastRows, (end - row_) / threads)), parts = divided_up(end - row_, rows);
    threads = std::min(threads, parts);
    blocks_of(static_cast<size_t>(threads - 1));
    std::atomic<bool> valid{true};
    share_work(*pool_, threads, parts, [&](int thread, int part) {
      const int begin = row_ + part * rows;
      if (valid && !make_part(recorded, begin, std::min(end, begin + rows), blocks_[static_cast<size_t>(thread)]))
        valid = false;
    });
    if (!valid) return false;
    // The rows of pixels above and below the border of two parts are interpolated from both.
    for (int row = row_; row < end && interpolates_rows_; row += rows)
      write_rows(8 * mcu_rows_ * row - 1, 8 * mcu_rows_ * row + 1);
    written_ = end_of_pixels(end - 1);
    return true;
  }

  bool make_part(int recorded, int begin, int end, RowBlocks& blocks) const {
    int written = 8 * mcu_rows_ * begin + (interpolates_rows_ && begin ? 1 : 0);
    for (int row = begin; row < end; row++) {
      shared_->place(int64_t{row - recorded} * mcus_across_, mcus_across_, blocks.slots);
      if (!make_samples_of(row, blocks)) return false;
      write_rows(written, end_of_pixels(row));
      written = end_of_pixels(row);
    }
    return true;
  }

  // Makes room for the samples of all rows that are made together, and of the one before.
  void enlarge_rings() {
    const Plane before[3] = {plane_[0], plane_[1], plane_[2]};
    int64_t row_bytes = 0;
    for (int c = 0; c < planes_; c++) row_bytes += plane_[c].stride * 8 * plane_[c].rows;
    rows_together_ = static_cast<int>(std::clamp<int64_t>(kRingBytes / row_bytes, 8, 64));
    place_samples(rings_, rows_together_ + 1);
    rings_.allocate();
    for (int c = 0; c < planes_; c++)
      for (int lines = 8 * plane_[c].rows, y = std::max(0, row_ - 1) * lines; y < row_ * lines; y++)
        std::memcpy(plane_[c].memory_of(y), before[c].memory_of(y), static_cast<size_t>(plane_[c].stride));
  }

  bool make_samples_of(int row, const RowBlocks& blocks) const {
    for (int c = 0; c < planes_; c++) {
      const Plane& plane = plane_[c];
      const int first = row * plane.rows * 8;
      for (int y = 0; y < plane.rows; y++) {
        const int64_t before = y * blocks.columns[c];
        const BlockRow block_row{blocks.coefficients[c] + 64 * before,
                                 blocks.last[c] + before,
                                 plane.factors,
                                 plane.groups,
                                 plane.row(first + 8 * y) + 8 * plane.first,
                                 plane.stride};
        if (!make_samples(block_row)) return false;
      }
      if (columns_ == 2 && c)
        for (int y = 0; y < 8 * plane.rows; y++) plane.extend(first + y);
    }
    return true;
  }

  // The rows of pixels that can be made from the rows of MCUs up to this one.
  int end_of_pixels(int row) const {
    return (row + 1) * 8 * mcu_rows_ - (interpolates_rows_ && row + 1 < mcus_down_ ? 1 : 0);
  }

  // Writes those that are in the rectangle.
  void write_rows(int begin, int end) const {
    end = std::min(end, roi_.y + roi_.height);
    for (int y = std::max(begin, roi_.y); y < end; y++) write_row(y);
  }

  void write_row(int y) const {
    uint8_t* out = out_.first + out_.stride * (y - roi_.y);
    const uint8_t* luma = plane_[0].row(y);
    if (output_ == Output::gray) {
      std::memcpy(out, luma + roi_.x, static_cast<size_t>(roi_.width));
      return;
    }
    PixelRow pixels{out, roi_.x, roi_.width, luma, {}, {}, columns_, rows_, false, output_ == Output::bgr};
    for (int c = 1; c < planes_; c++) {
      const Plane& plane = plane_[c];
      const int near = y / rows_;
      pixels.lower = rows_ == 2 && y % 2;
      const int far = rows_ == 1 ? near : std::clamp(pixels.lower ? near + 1 : near - 1, 0, plane.height - 1);
      pixels.near[c - 1] = plane.row(near);
      pixels.far[c - 1] = plane.row(far);
    }
    write_pixels(pixels);
  }

  static constexpr int64_t kRingBytes = 8 << 20;  // of samples that threads make together
  static constexpr int kRowsAlone = 32;           // of MCUs, where no thread has helped

  JpegHeader header_;
  const Output output_;
  const Roi roi_;
  const PixelRows out_;
  ThreadPool* const pool_;
  const bool ends_;
  ScanBytes bytes_;
  ScanState state_;
  int restarts_;
  bool at_entry_ = true;  // the marker before has been read

  Arena arena_, rings_;
  CodeLookup *dc_[4] = {}, *ac_[4] = {};
  AcSkip* skip_[4] = {};
  int planes_ = 0;
  Plane plane_[3] = {};
  int columns_ = 1, rows_ = 1;  // the subsampling of chroma
  bool interpolates_rows_ = false;
  int mcu_columns_ = 1, mcu_rows_ = 1;  // of blocks of luma
  int mcus_across_ = 0, mcus_down_ = 0;
  int first_row_ = 0, last_row_ = 0;  // of MCUs: that are needed
  int rows_read_at_once_ = 1;         // of MCUs, by libjpeg
  int row_;                           // of MCUs: the next one
  int written_ = 0;                   // the next row of pixels
  int rows_together_ = 0;             // of MCUs, that threads make at once
  int alone_until_ = 0;               // a row of MCUs
  BlockSlot slots_[10];
  int slot_count_ = 0;
  std::deque<RowBlocks> blocks_;  // of each thread
  std::optional<SharedScan> shared_;
};

Output output_of(ImageType type, int components) {
  switch (type) {
    case ImageType::gray:
    case ImageType::indices:
      return Output::gray;
    case ImageType::any:
      return components == 1 ? Output::gray : Output::rgb;
    case ImageType::bgr:
      return Output::bgr;
    default:
      return Output::rgb;
  }
}

// A file with restart markers: threads read its intervals and make their rows.
bool decode_parts(const JpegHeader& header, Output output, const Roi& roi, const PixelRows& out, ThreadPool& pool,
                  std::span<const SequentialDecoder::Part> parts) {
  shared_decodes.fetch_add(1, std::memory_order_relaxed);
  std::atomic<bool> valid{true};
  pool.parallel_for(static_cast<int64_t>(parts.size()), [&](int64_t i) {
    const auto& [entry, part] = parts[static_cast<size_t>(i)];
    const PixelRows rows{out.first + out.stride * (part.y - roi.y), out.stride};
    const bool ends = i + 1 == static_cast<int64_t>(parts.size());
    SequentialDecoder decoder(header, output, part, rows, nullptr, entry, ends);
    if (valid && !(decoder.plan() && decoder.run())) valid = false;
  });
  return valid;
}

bool decode_progressive(const JpegHeader& header, Output output, const Roi& roi, const PixelRows& out) {
  ProgressiveScans scans;
  if (!scans.read(header)) return false;
  SequentialDecoder decoder(header, output, roi, out, nullptr, {0, header.data, 0}, true);
  return decoder.plan() && decoder.run(scans);
}

bool decode_file(const JpegHeader& header, Output output, const Roi& roi, const PixelRows& out, ThreadPool* pool) {
  SequentialDecoder decoder(header, output, roi, out, pool, {0, header.data, 0}, true);
  if (!decoder.plan()) return false;
  const int threads = header.interval ? threads_for(pool, static_cast<int64_t>(header.data.size())) : 1;
  if (threads == 1) return decoder.run();
  const auto parts = decoder.parts(threads);
  return parts.size() > 1 ? decode_parts(header, output, roi, out, *pool, parts) : decoder.run();
}

}  // namespace

bool decode_ordinary(const JpegHeader& header, const DecodeOptions& options, const Roi& roi, const PixelRows& out) {
  if (options.fast_idct || options.scale != 8 || !enabled || !header.ordinary) return false;
  const Output output = output_of(options.type, header.components);
  const bool decoded = header.is_progressive() ? decode_progressive(header, output, roi, out)
                                               : header.one_scan && decode_file(header, output, roi, out, options.pool);
  if (decoded) decodes.fetch_add(1, std::memory_order_relaxed);
  return decoded;
}

int64_t sequential_decodes() { return decodes.load(std::memory_order_relaxed); }
int64_t shared_sequential_decodes() { return shared_decodes.load(std::memory_order_relaxed); }

std::vector<std::string_view> jpeg_decoders() {
  std::vector<std::string_view> names = vector_targets();
  names.push_back(kLibrary);
  return names;
}

void split_jpeg_scans(int bytes) { split_bytes = bytes; }

void use_jpeg_decoder(std::string_view name) {
  const auto names = jpeg_decoders();
  if (std::find(names.begin(), names.end(), name) == names.end()) refuse("there is no JPEG decoder ", name);
  enabled = name != kLibrary;
  if (enabled) use_vectors(name);
}

}  // namespace avida::codecs
