#include "codecs/jpeg/sequential_decoder.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "codecs/jpeg/jpeg_vectors.h"
#include "core/vectors.h"
#include "runtime/memory.h"

namespace avida::codecs {
namespace {

constexpr std::string_view kLibrary = "libjpeg-turbo";
std::atomic<int64_t> decodes{0};
std::atomic<bool> enabled{true};

int divided_up(int a, int b) { return (a + b - 1) / b; }
int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

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
  Request requests_[16];
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
  int16_t predicted;
  int16_t* coefficients;  // of a row of MCUs
  uint8_t* last;
  uint8_t* memory;
  uint8_t* samples;  // of column 0, which may lie outside of the memory
  int64_t stride;
  int ring;  // rows of samples; older ones are overwritten

  static constexpr int kMargin = 64;

  int blocks() const { return rows * groups * kGroup; }
  uint8_t* row(int y) const { return samples + y % ring * stride; }
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

enum class Output { gray, rgb, bgr };

class SequentialDecoder {
 public:
  SequentialDecoder(const SequentialHeader& header, Output output, const Roi& roi, const PixelRows& out)
      : header_(header), output_(output), roi_(roi), out_(out), bytes_(header.data), reader_{bytes_.begin()} {
    if (header.components == 3) return;
    auto& only = header_.component[0];  // the MCUs of a single component are blocks
    rows_read_at_once_ = only.rows;
    only.columns = only.rows = 1;
  }

  bool run() {
    if (!place_planes()) return false;
    make_slots();
    for (int row = 0; row <= last_row_; row++) {
      const bool needed = row >= first_row_;
      if (row == first_row_) need_columns();
      if (!read_row(row)) return false;
      if (!needed) continue;
      for (int c = 0; c < planes_; c++)
        if (!make_plane(plane_[c], row)) return false;
      write_rows(row);
    }
    const int64_t left = bits_left();
    // The rest of the file is not looked at, but libjpeg reads ahead and refuses a file that ends there.
    if (roi_.y + roi_.height < header_.height) return left >= 0 && !bytes_.ends_without_marker();
    return ends_interval(left, 0xD9);
  }

 private:
  // The planes that are needed, their memory, and the rows of MCUs.
  bool place_planes() {
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
    for (int c = 0; c < planes_; c++) place_plane(c);
    for (int i = 0; i < 4; i++) {
      if (header_.dc[i].defined) arena_.request(dc_[i], 1);
      if (header_.ac[i].defined) arena_.request(ac_[i], 1);
    }
    arena_.allocate();
    for (int c = 0; c < planes_; c++) clear_plane(plane_[c]);
    for (int i = 0; i < 4; i++) {
      if (header_.dc[i].defined) dc_[i]->make(header_.dc[i]);
      if (header_.ac[i].defined) ac_[i]->make(header_.ac[i]);
    }
    return true;
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
    plane.ring = 2 * 8 * plane.rows;
    for (int k = 0; k < 64; k++) {
      const int at = kStoreOrder.at[k + 1];
      plane.factors[at / (8 * kGroup) * 8 + at % 8] =
          static_cast<int16_t>(header_.quantization[component.quantization][k]);
    }
    arena_.request(plane.coefficients, int64_t{64} * plane.blocks());
    arena_.request(plane.last, plane.blocks());
    arena_.request(plane.memory, plane.stride * plane.ring);
  }

  static void clear_plane(Plane& plane) {
    std::memset(plane.coefficients, 0, sizeof(int16_t) * 64 * static_cast<size_t>(plane.blocks()));
    std::memset(plane.last, 0, static_cast<size_t>(plane.blocks()));
    plane.samples = plane.memory + Plane::kMargin - 8 * plane.first;
  }

  // The blocks of an MCU in the order of the file. None is needed at first.
  void make_slots() {
    for (int c = 0; c < header_.components; c++) {
      const auto& component = header_.component[c];
      for (int y = 0; y < component.rows; y++)
        for (int x = 0; x < component.columns; x++)
          slots_[slot_count_++] = {
              dc_[component.dc], ac_[component.ac], &predicted_[c], nullptr, nullptr, component.columns, x, 0};
    }
  }

  void need_columns() {
    BlockSlot* slot = slots_;
    for (int c = 0; c < planes_; c++) {
      const Plane& plane = plane_[c];
      for (int y = 0; y < plane.rows; y++)
        for (int x = 0; x < plane.columns; x++, slot++) {
          slot->coefficients = plane.coefficients + int64_t{y} * plane.groups * kGroupSize;
          slot->last = plane.last + y * plane.groups * kGroup;
          slot->offset = x - plane.first;
          slot->columns = plane.groups * kGroup;
        }
    }
  }

  int64_t bits_left() { return 8 * bytes_.left(reader_.at) + reader_.count; }
  bool ends_interval(int64_t left, int marker) const { return left >= 0 && left < 8 && bytes_.marker() == marker; }

  bool restart() {
    if (!ends_interval(bits_left(), 0xD0 + restarts_++ % 8)) return false;
    bytes_.next_interval();
    reader_ = {bytes_.begin()};
    std::fill_n(predicted_, 3, int16_t{0});
    return true;
  }

  bool read_row(int row) {
    for (int mcu = 0; mcu < mcus_across_;) {
      const int64_t done = int64_t{row} * mcus_across_ + mcu;
      int count = mcus_across_ - mcu;
      if (header_.interval) {
        if (done && done % header_.interval == 0 && !restart()) return false;
        count = static_cast<int>(std::min<int64_t>(count, header_.interval - done % header_.interval));
      }
      if (!read_mcus(bytes_, reader_, slots_, slot_count_, mcu, count)) return false;
      mcu += count;
    }
    return true;
  }

  bool make_plane(const Plane& plane, int row) const {
    const int first = row * plane.rows * 8;
    for (int y = 0; y < plane.rows; y++) {
      const int64_t before = int64_t{y} * plane.groups * kGroup;
      const BlockRow blocks{
          plane.coefficients + 64 * before,           plane.last + before, plane.factors, plane.groups,
          plane.row(first + 8 * y) + 8 * plane.first, plane.stride};
      if (!make_samples(blocks)) return false;
    }
    if (columns_ == 2 && &plane != plane_)
      for (int y = 0; y < 8 * plane.rows; y++) plane.extend(first + y);
    return true;
  }

  // Writes all rows of pixels that can be made from the rows of MCUs up to this one.
  void write_rows(int row) {
    const int end = (row + 1) * 8 * mcu_rows_ - (interpolates_rows_ && row + 1 < mcus_down_ ? 1 : 0);
    const int stop = std::min(end, roi_.y + roi_.height);
    for (written_ = std::max(written_, roi_.y); written_ < stop; written_++) write_row(written_);
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

  SequentialHeader header_;
  const Output output_;
  const Roi roi_;
  const PixelRows out_;
  ScanBytes bytes_;
  BitReader reader_;
  int16_t predicted_[3] = {};
  int restarts_ = 0;

  Arena arena_;
  DcLookup* dc_[4] = {};
  AcLookup* ac_[4] = {};
  int planes_ = 0;
  Plane plane_[3];
  int columns_ = 1, rows_ = 1;  // the subsampling of chroma
  bool interpolates_rows_ = false;
  int mcu_columns_ = 1, mcu_rows_ = 1;  // of blocks of luma
  int mcus_across_ = 0, mcus_down_ = 0;
  int first_row_ = 0, last_row_ = 0;  // of MCUs: that are needed
  int rows_read_at_once_ = 1;         // of MCUs, by libjpeg
  int written_ = 0;                   // the next row of pixels
  BlockSlot slots_[10];
  int slot_count_ = 0;
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

}  // namespace

bool decode_sequential(Bytes file, const ImageInfo& info, const DecodeOptions& options, const Roi& roi,
                       const PixelRows& out) {
  if (options.fast_idct || options.scale != 8 || !enabled) return false;
  const auto header = read_sequential_header(file);
  if (!header || header->height != info.height || header->width != info.width || header->components != info.channels)
    return false;
  SequentialDecoder decoder(*header, output_of(options.type, header->components), roi, out);
  if (!decoder.run()) return false;
  decodes.fetch_add(1, std::memory_order_relaxed);
  return true;
}

int64_t sequential_decodes() { return decodes.load(std::memory_order_relaxed); }

std::vector<std::string_view> jpeg_decoders() {
  std::vector<std::string_view> names = vector_targets();
  names.push_back(kLibrary);
  return names;
}

void use_jpeg_decoder(std::string_view name) {
  const auto names = jpeg_decoders();
  if (std::find(names.begin(), names.end(), name) == names.end()) refuse("there is no JPEG decoder ", name);
  enabled = name != kLibrary;
  if (enabled) use_vectors(name);
}

}  // namespace avida::codecs
